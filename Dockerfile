# Two images from one file: the server that Open WebUI connects to, and the indexer.
#   docker build --target pipelines -t askwiki-pipelines .
#   docker build --target indexer   -t askwiki-indexer .
# The minor version and the Debian that the tests run on (make test-fresh).
FROM python:3.11-slim-bookworm AS base
# The CPU build of torch; for a graphics card give the address of another index.
ARG TORCH_INDEX=https://download.pytorch.org/whl/cpu
ENV PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    ASKWIKI_CONFIG=/app/config \
    HF_HOME=/models \
    PIPELINES_DIR=/app/pipelines
WORKDIR /app
# By number below: a cluster that forbids root can tell without looking into the image.
RUN useradd --system --uid 10001 --home-dir /app askwiki \
    && mkdir -p /models /data \
    && chown askwiki /models /data
# The largest part before the lock: a new version of another library does not fetch it again.
RUN --mount=type=cache,target=/root/.cache/pip \
    pip install torch==2.13.0 --index-url "${TORCH_INDEX}"
COPY requirements.lock ./
# An older pip does not take hashes from constraints: pip itself comes first, as a requirement.
RUN --mount=type=cache,target=/root/.cache/pip \
    sed -n '/^pip==/,/[^\\]$/p; /^setuptools==/,/[^\\]$/p' requirements.lock > /tmp/tools.txt \
    && pip install --require-hashes --requirement /tmp/tools.txt
# The libraries before the code: an upgrade that changes no version of theirs builds in seconds.
COPY pyproject.toml ./
RUN --mount=type=cache,target=/root/.cache/pip \
    python -c "import tomllib; project = tomllib.load(open('pyproject.toml', 'rb'))['project']; \
               extras = [project['optional-dependencies'][name] for name in ('models', 'mcp', 'attachments')]; \
               print(*project['dependencies'], *sum(extras, []), sep='\n')" > /tmp/wanted.txt \
    && pip install --only-binary :all: --require-hashes --constraint requirements.lock --requirement /tmp/wanted.txt
COPY README.md ./
COPY pipelines/askwiki pipelines/askwiki
COPY indexer indexer
RUN --mount=type=cache,target=/root/.cache/pip \
    pip install --no-deps --no-build-isolation .
COPY config config
VOLUME ["/models", "/data"]

FROM base AS pipelines
# The plugin files: Open WebUI's admin panel writes valves.json into a folder beside each.
COPY --chown=askwiki pipelines/wiki_condense.py pipelines/wiki_answer.py pipelines/
RUN mkdir -p pipelines/wiki_condense pipelines/wiki_answer && chown -R askwiki pipelines
USER 10001
EXPOSE 9099
# The timeout: a busy machine needs seconds to start the check itself.
HEALTHCHECK --interval=15s --timeout=20s --start-period=120s --retries=4 \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:9099/health', timeout=4)"]
CMD ["python", "-m", "askwiki", "serve", "--host", "0.0.0.0", "--port", "9099"]

FROM base AS indexer
USER 10001
HEALTHCHECK --interval=60s --timeout=30s --start-period=300s --retries=3 \
    CMD ["python", "-m", "indexer", "schedule", "--healthy"]
CMD ["python", "-m", "indexer", "schedule"]
