// Reads answers as Open WebUI 0.12.4 does: marked 9.1.6 with the chat's own kinds of tokens, walked as the chat draws
// them. One JSON string a line comes in, one JSON list of [kind, address or text] a line goes out.
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';

const load = createRequire(`${resolve(process.argv[2])}/`);
const { marked } = load('marked');
const { decode } = load('html-entities');

// --- the chat's own tokens, told in our words -----------------------------------------------------------------
const AROUND =
	'\\s。，、､;；„“‘’“”（）「」『』［］《》【】‹›«»…⋯–—:：？！～⇒?!-\\/:-@\\[-`{-~\\p{Script=Han}\\p{Script=Hiragana}' +
	'\\p{Script=Katakana}\\p{Script=Hangul}';
const around = new RegExp(`[${AROUND}]`, 'u');
const BODY = '((?:\\\\[^]|[^\\\\])+?)';
const shown = [
	['\\$\\$', '\\$\\$'],
	['\\\\\\[', '\\\\\\]'],
	['\\\\begin\\{equation\\}', '\\\\end\\{equation\\}']
];
const within = [
	['\\$', '\\$'],
	['\\\\pu\\{', '\\}'],
	['\\\\ce\\{', '\\}'],
	['\\\\\\(', '\\\\\\)']
];
const inlines = [
	...shown.slice(0, 1).map(([left, right]) => `${left}(?!\\n)${BODY}(?!\\n)${right}`),
	...within.map(([left, right]) => `${left}${BODY}${right}`),
	...shown.slice(1).map(([left, right]) => `${left}(?!\\n)${BODY}(?!\\n)${right}`)
];
const blocks = shown.map(([left, right]) => `${left}\\n${BODY}\\n${right}`);
const rule = (patterns) => new RegExp(`^(?:${patterns.join('|')})(?=[${AROUND}]|$)`, 'u');
const inlineRule = rule(inlines);
const blockRule = rule(blocks);

function display(src, atEdge) {
	if (!src.startsWith('$$')) return undefined;
	let place = 2;
	while (place < src.length - 1 && !(src[place] === '$' && src[place + 1] === '$')) place += src[place] === '\\' ? 2 : 1;
	if (place >= src.length - 1) return undefined;
	const end = place + 2;
	if (!src.slice(2, place).trim()) return undefined;
	if (end < src.length && !around.test(src.charAt(end))) return undefined;
	if (atEdge && !/^(?:[ \t]*\r?\n|$)/.test(src.slice(end))) return undefined;
	return src.slice(0, end);
}

function formula(name, level) {
	const isBlock = level === 'block';
	return {
		name,
		level,
		start(src) {
			for (let place = 0; place < src.length; place++) {
				const [sign, next] = [src[place], src[place + 1]];
				const opens =
					sign === '$' ? !isBlock || next === '$' : sign === '\\' && (isBlock ? '[b' : '(cp').includes(next || '\n');
				if (opens && (place === 0 || around.test(src.charAt(place - 1)))) return place;
			}
			return undefined;
		},
		tokenizer(src) {
			const raw = display(src, isBlock) ?? src.match(isBlock ? blockRule : inlineRule)?.[0];
			return raw ? { type: name, raw, text: raw } : undefined;
		}
	};
}

const details = {
	name: 'details',
	level: 'block',
	start: (src) => (/^<details[\s>]/.test(src) ? 0 : -1),
	tokenizer(src) {
		const open = /^<details(\s+[^>]*)?>\n/.exec(src);
		if (!open) return undefined;
		let [depth, place] = [1, '<details'.length];
		while (depth > 0 && place < src.length) {
			if (src.startsWith('<details', place)) depth++;
			else if (src.startsWith('</details>', place)) depth--;
			if (depth > 0) place++;
		}
		if (depth) return undefined;
		const raw = src.slice(0, place + '</details>'.length);
		const tokens = [];
		this.lexer.blockTokens(decode(raw.slice(open[0].length, -'</details>'.length).trim()), tokens);
		return { type: 'details', raw, text: raw, tokens };
	}
};
const underline = {
	name: 'underline',
	level: 'inline',
	start: (src) => src.indexOf('<u>'),
	tokenizer(src) {
		const match = /^<u>([\s\S]+?)<\/u>/.exec(src);
		return match && { type: 'underline', raw: match[0], text: match[1], tokens: this.lexer.inlineTokens(match[1]) };
	}
};
const citation = {
	name: 'citation',
	level: 'inline',
	start: (src) => src.search(/\[\d/),
	tokenizer(src) {
		const match = /^(\[(?:\d+(?:#[^,\]\s]+)?(?:,\s*\d+(?:#[^,\]\s]+)?)*)\])+/.exec(src);
		return match ? { type: 'citation', raw: match[0] } : undefined;
	}
};
const footnote = {
	name: 'footnote',
	level: 'inline',
	start: (src) => src.search(/\[\^\s*[a-zA-Z0-9_-]+\s*\]/),
	tokenizer(src) {
		const match = /^\[\^\s*([a-zA-Z0-9_-]+)\s*\]/.exec(src);
		return match ? { type: 'footnote', raw: match[0] } : undefined;
	}
};
const colons = {
	name: 'colonFence',
	level: 'block',
	start: (src) => src.match(/^:::\w/m)?.index ?? -1,
	tokenizer(src) {
		const match = /^:::([\w-]+)(?:\{([^\n]*)\})?[^\n]*\n([\s\S]*?)(?:\n:::(?:\s*(?:\n|$)))/.exec(src);
		if (!match) return undefined;
		const tokens = [];
		this.lexer.blockTokens(match[3].trim(), tokens);
		return { type: 'colonFence', raw: match[0], tokens };
	}
};
const mention = (sign) => ({
	name: 'mention',
	level: 'inline',
	start: (src) => src.indexOf('<'),
	tokenizer(src) {
		const match = new RegExp(`^<\\${sign}([^|>\\s]+)(?:\\|([^>]*))?>`).exec(src);
		return match ? { type: 'mention', raw: match[0], id: match[1] } : undefined;
	}
});

marked.use({ extensions: [formula('inlineKatex', 'inline'), formula('blockKatex', 'block')] });
marked.use({
	tokenizer: {
		lheading(src) {
			const match = this.rules.block.lheading.exec(src);
			const place = match?.[1]?.search(/\n<details[\s>]/) ?? -1;
			if (place === -1) return false;
			const text = match[1].slice(0, place);
			return { type: 'paragraph', raw: `${text}\n`, text, tokens: this.lexer.inline(text) };
		}
	},
	extensions: [details, underline]
});
marked.use({ extensions: [citation] });
marked.use({ extensions: [footnote] });
marked.use({ extensions: [colons] });
marked.use({
	tokenizer: {
		del(src) {
			const twice = /^~~(?=\S)([\s\S]*?\S)~~/.exec(src);
			if (twice) return { type: 'del', raw: twice[0], text: twice[1], tokens: this.lexer.inlineTokens(twice[1]) };
			const once = /^~(?=\S)([\s\S]*?\S)~/.exec(src);
			return once ? { type: 'text', raw: once[0], text: once[0] } : false;
		}
	}
});
marked.use({ breaks: true });
marked.use({ extensions: ['@', '#', '$'].map(mention) });

// --- what is drawn of them ------------------------------------------------------------------------------------
const outsideCode = (text, change) =>
	text
		.split(/(```[\s\S]*?```|`[\s\S]*?`)/)
		.map((part) => (part.startsWith('`') ? part : change(part)))
		.join('');

const filledIn = (text) =>
	outsideCode(text, (part) =>
		part
			.replace(/{{VIDEO_FILE_ID_([a-f0-9-]+)}}/gi, '<video src="/api/v1/files/$1/content" controls></video>')
			.replace(/{{HTML_FILE_ID_([a-f0-9-]+)}}/gi, '<file type="html" id="$1" />')
	);

function* drawn(tokens) {
	for (const token of tokens ?? []) {
		if (token.type === 'image') yield ['picture', token.href];
		else if (token.type === 'link') {
			yield ['link', token.href];
			if (token.raw.startsWith('[')) yield* drawn(token.tokens);
		} else if (token.type === 'html') {
			if (!/^<br\s*\/?>$/i.test(token.text.trim())) yield ['html', token.text];
		} else if (['iframe', 'mention', 'details'].includes(token.type)) {
			yield [token.type, token.raw];
			yield* drawn(token.tokens);
		} else if (token.type === 'code') {
			if (token.codeBlockStyle !== 'indented') yield ['code', token.lang ?? '', token.text];
		} else if (token.type === 'codespan') yield ['code', '', token.text];
		else if (token.type === 'table') {
			for (const cell of [...token.header, ...token.rows.flat()]) yield* drawn(cell.tokens);
		} else if (token.type === 'list') {
			for (const item of token.items) yield* drawn(item.tokens);
		} else if (token.type === 'blockquote') {
			const alert = /^(?:\[!(NOTE|TIP|IMPORTANT|WARNING|CAUTION)\])\s*?\n*/;
			if (alert.test(token.text)) yield* drawn(marked.lexer(token.text.replace(alert, '')));
			else yield* drawn(token.tokens);
		} else yield* drawn(token.tokens);
	}
}

for await (const line of createInterface({ input: process.stdin })) {
	const text = filledIn(JSON.parse(line)).trim();
	process.stdout.write(`${JSON.stringify([...drawn(marked.lexer(text))])}\n`);
}
