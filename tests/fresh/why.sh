#!/bin/sh
# Why pip or venv failed, from what it said: sh tests/fresh/why.sh FILE. Most telling signs first.
# Only the last command counts, the one that failed: each begins with "$ " in the file.
set -eu
. "$(dirname "$0")/say.sh"
LOG=$1
MORE="(all that was said: $LOG)"
WEITER="(всё, что было сказано: $LOG)"

last=$(awk '/^\$ / { said = "" } { said = said $0 "\n" } END { printf "%s", said }' "$LOG")

said() {
    printf '%s\n' "$last" | grep -Eqi "$1"
}

said 'No space left on device|Errno 28|Disk quota exceeded' && stop \
    "the disk became full while installing: make room and call make again $MORE" \
    "во время установки кончилось место на диске: освободите его и повторите make $WEITER"

said 'DO NOT MATCH THE HASHES|hashes are missing' && stop \
    "a package is not the one that was tested, its hash differs from requirements.lock: ask who runs your package index $MORE" \
    "пакет не тот, что проверен, его хеш не совпадает с requirements.lock: спросите того, кто ведёт ваш индекс пакетов $WEITER"

said 'ProxyError|Cannot connect to proxy|Tunnel connection failed|Proxy Authentication Required' && stop \
    "the proxy in https_proxy or pip's settings lets nobody through: correct its address or give a login, http://USER:PASSWORD@HOST:PORT $MORE" \
    "прокси из https_proxy или настроек pip не пропускает: исправьте его адрес или укажите вход, http://USER:PASSWORD@HOST:PORT $WEITER"

said 'CERTIFICATE_VERIFY_FAILED|SSLError|SSLCertVerificationError' && stop \
    "a proxy in between signs with a certificate that Python does not know: export PIP_CERT=/path/to/your-company.pem and call make again $MORE" \
    "прокси подписывает своим сертификатом, которого Python не знает: export PIP_CERT=/путь/к/сертификату.pem и повторите make $WEITER"

said 'connection broken by|NewConnectionError|NameResolutionError|ConnectTimeoutError|Max retries exceeded|Read timed out|HTTP error|Could not fetch URL' && stop \
    "no way to the package index: behind a proxy set https_proxy, with an index of your own PIP_INDEX_URL $MORE" \
    "нет пути к индексу пакетов: за прокси задайте https_proxy, со своим индексом — PIP_INDEX_URL $WEITER"

package=$(printf '%s\n' "$last" | sed -n 's/.*No matching distribution found for \([^ ;(]*\).*/\1/p' | head -n 1)
[ -z "$package" ] || stop \
    "the package index has no build of $package for this Python and machine: try another Python, make demo PYTHON=python3.13 $MORE" \
    "в индексе нет сборки $package для этого Python и этой машины: попробуйте другой Python, make demo PYTHON=python3.13 $WEITER"

said 'Permission denied|Errno 13' && stop \
    "a file could not be written: was the project or its .venv made by another user? $MORE" \
    "не удалось записать файл: проект или его .venv создан другим пользователем? $WEITER"

stop \
    "the installation failed: the last lines of $LOG say why" \
    "установка не удалась: почему — в последних строках $LOG"
