import type { Recorder } from '../../recorder.ts'
import { startProject } from './lib/project.ts'

export const project = 'parcel-api'

/** DevOps: image, compose, CI and a deploy that fails for four reasons in a row. Docker, ssh and gh are played. */

const dockerfile = `FROM python:3.12

WORKDIR /app
COPY . .
RUN apt-get update && apt-get install -y build-essential libpq-dev
RUN pip install -r requirements.txt
EXPOSE 8000
CMD ["uvicorn", "parcel.main:app", "--port", "8000"]
`

const compose = `services:
  api:
    image: ghcr.io/brightlane/parcel-api:\${TAG:-latest}
    restart: unless-stopped
    ports:
      - "8000:8000"
    env_file: .env
    environment:
      DATABASE_URL: postgresql://parcel:\${POSTGRES_PASSWORD}@db:5432/parcel
      LOG_LEVEL: info
    depends_on:
      - db
    healthcheck:
      test: ["CMD", "curl", "-f", "http://localhost:8000/health"]
      interval: 10s
      retries: 3

  db:
    image: postgres:latest
    environment:
      POSTGRES_USER: parcel
      POSTGRES_PASSWORD: \${POSTGRES_PASSWORD}
      POSTGRES_DB: parcel
    volumes:
      - pgdata:/var/lib/postgresql/data

volumes:
  pgdata:
`

const workflow = `name: deploy
on:
  push:
    branches: [main]

jobs:
  build:
    runs-on: ubuntu-22.04
    steps:
      - uses: actions/checkout@v4
      - uses: docker/login-action@v3
        with:
          registry: ghcr.io
          username: \${{ github.actor }}
          password: \${{ secrets.GITHUB_TOKEN }}
      - uses: docker/build-push-action@v6
        with:
          push: true
          tags: ghcr.io/brightlane/parcel-api:latest

  deploy:
    needs: build
    runs-on: ubuntu-22.04
    steps:
      - uses: actions/checkout@v4
      - name: Deploy over ssh
        run: ./deploy/deploy.sh latest
        env:
          DEPLOY_HOST: \${{ secrets.DEPLOY_HOST }}
`

const deploySh = `#!/usr/bin/env bash
set -euo pipefail
TAG="\${1:?usage: deploy.sh TAG}"
HOST="\${DEPLOY_HOST:?}"

scp compose.yaml "deploy@$HOST:/srv/parcel/compose.yaml"
ssh "deploy@$HOST" "cd /srv/parcel && TAG=$TAG docker compose pull && TAG=$TAG docker compose up -d"
sleep 5
curl -fsS "https://$HOST/health" > /dev/null
echo "deployed $TAG"
`

const settings = `import os


class Settings:
    database_url = os.environ["DB_URL"]
    log_level = os.environ.get("LOG_LEVEL", "info")
    label_printer = os.environ.get("LABEL_PRINTER_URL", "http://printer.internal:9100")


settings = Settings()
`

const mainPy = `from fastapi import FastAPI

from parcel.settings import settings

app = FastAPI(title="parcel-api")


@app.get("/health")
def health():
    return {"status": "ok", "log_level": settings.log_level}
`

const ps = (rows: string) =>
  `NAME              IMAGE                                    SERVICE   STATUS                          PORTS\n${rows}`

export default async function (r: Recorder): Promise<void> {
  startProject(
    r,
    {
      Dockerfile: dockerfile,
      'compose.yaml': compose,
      '.github/workflows/deploy.yml': workflow,
      'deploy/deploy.sh': deploySh,
      'parcel/__init__.py': '',
      'parcel/settings.py': settings,
      'parcel/main.py': mainPy,
      'requirements.txt': 'fastapi==0.111.0\nuvicorn==0.30.1\npsycopg[binary]==3.1.19\n',
      '.env.example': 'POSTGRES_PASSWORD=change-me\n',
      'README.md':
        '# parcel-api\n\nLabels and tracking for the Brightlane depots. Deployed to parcel-01 with docker compose.\n',
    },
    { author: 'Tariq Benali', commits: ['FastAPI skeleton', 'Compose file', 'Deploy workflow, not tried yet'] },
  )

  r.prompt(
    'The deploy workflow has never been green. Please get parcel-api onto parcel-01. Start with CI, then the host. And the image is 1.3 GB, which is absurd for two endpoints.',
  )
  await r.bash('ls -a && git log --oneline', { description: 'Look around' })
  await r.read('.github/workflows/deploy.yml')
  await r.read('Dockerfile')
  await r.read('compose.yaml')
  await r.read('deploy/deploy.sh')
  await r.bash('gh run list --workflow deploy.yml --limit 3', {
    description: 'Recent workflow runs',
    stdoutOverride: `STATUS  TITLE                          WORKFLOW  BRANCH  EVENT  ID          ELAPSED  AGE
X       Deploy workflow, not tried yet  deploy    main    push   9481120377  2m41s    about 1 hour ago
X       Compose file                    deploy    main    push   9480977102  2m38s    about 3 hours ago`,
  })
  await r.bash('gh run view 9481120377 --log-failed | tail -6', {
    description: 'Log of the failed run',
    stdoutOverride: `build	Build and push	#14 pushing layers 3.2s done
build	Build and push	#14 ERROR: failed to push ghcr.io/brightlane/parcel-api:latest: denied: installation not allowed to Create organization package
build	Build and push	------
build	Build and push	ERROR: failed to solve: failed to push ghcr.io/brightlane/parcel-api:latest: denied: installation not allowed to Create organization package
build	Build and push	##[error]buildx failed with: ERROR: failed to solve: denied: installation not allowed to Create organization package`,
  })
  r.say('The job token may not write packages. The workflow needs `permissions: packages: write`.')
  await r.edit(
    '.github/workflows/deploy.yml',
    `  build:
    runs-on: ubuntu-22.04
    steps:`,
    `  build:
    runs-on: ubuntu-22.04
    permissions:
      contents: read
      packages: write
    steps:`,
  )
  await r.bash('docker build -t parcel-api:before . && docker images parcel-api', {
    description: 'Build the present image',
    stdoutOverride: `[+] Building 74.3s (10/10) FINISHED                                                              docker:default
 => [internal] load build definition from Dockerfile                                                       0.0s
 => [1/5] FROM docker.io/library/python:3.12@sha256:3a1e...                                                21.4s
 => [4/5] RUN apt-get update && apt-get install -y build-essential libpq-dev                               28.9s
 => [5/5] RUN pip install -r requirements.txt                                                              11.2s
 => exporting to image                                                                                      9.8s
REPOSITORY   TAG       IMAGE ID       CREATED         SIZE
parcel-api   before    5e0b6cf3d1aa   2 seconds ago   1.31GB`,
  })
  await r.write(
    'Dockerfile',
    `FROM python:3.12-slim AS build
WORKDIR /app
COPY requirements.txt .
RUN python -m venv /venv && /venv/bin/pip install --no-cache-dir -r requirements.txt

FROM python:3.12-slim
RUN useradd --uid 10001 --no-create-home parcel
WORKDIR /app
COPY --from=build /venv /venv
COPY parcel ./parcel
USER 10001
ENV PATH=/venv/bin:$PATH
EXPOSE 8000
CMD ["uvicorn", "parcel.main:app", "--port", "8000"]
`,
  )
  await r.write('.dockerignore', '.git\n.env\n__pycache__\n*.md\n')
  await r.bash('docker build -t parcel-api:after . && docker images parcel-api', {
    description: 'Build the slim image',
    stdoutOverride: `[+] Building 18.6s (13/13) FINISHED                                                              docker:default
 => [build 4/4] RUN python -m venv /venv && /venv/bin/pip install --no-cache-dir -r requirements.txt        9.1s
 => exporting to image                                                                                      0.7s
REPOSITORY   TAG       IMAGE ID       CREATED          SIZE
parcel-api   after     c41d7722e0b9   1 second ago     168MB
parcel-api   before    5e0b6cf3d1aa   3 minutes ago    1.31GB`,
  })
  await r.bash('docker run --rm -d -p 8000:8000 --name probe parcel-api:after && sleep 2 && docker logs probe', {
    description: 'Try the image',
    stdoutOverride: `8c0f6f1b2a7d
Traceback (most recent call last):
  File "/venv/lib/python3.12/site-packages/uvicorn/importer.py", line 22, in import_from_string
    module = importlib.import_module(module_str)
  File "/app/parcel/main.py", line 3, in <module>
    from parcel.settings import settings
  File "/app/parcel/settings.py", line 5, in Settings
    database_url = os.environ["DB_URL"]
  File "<frozen os>", line 685, in __getitem__
KeyError: 'DB_URL'`,
    exitCode: 1,
  })
  await r.grep('DB_URL|DATABASE_URL', { output_mode: 'content', '-n': true })
  r.say(
    'The code reads DB_URL, compose sets DATABASE_URL. I follow compose, DATABASE_URL is what the other services use.',
  )
  await r.edit('parcel/settings.py', 'os.environ["DB_URL"]', 'os.environ["DATABASE_URL"]')
  await r.bash(
    'docker build -q -t parcel-api:after . && docker run --rm -d -e DATABASE_URL=postgresql://x -p 8000:8000 --name probe parcel-api:after && sleep 2 && curl -sS localhost:8000/health',
    {
      description: 'Build and try again',
      stdoutOverride: `sha256:77a90ee4c2d1
f2a8de5510c3
curl: (56) Recv failure: Connection reset by peer`,
      exitCode: 56,
    },
  )
  await r.bash('docker logs probe', {
    description: 'Why reset?',
    stdoutOverride: `INFO:     Started server process [1]
INFO:     Application startup complete.
INFO:     Uvicorn running on http://127.0.0.1:8000 (Press CTRL+C to quit)`,
  })
  await r.edit('Dockerfile', '"--port", "8000"]', '"--host", "0.0.0.0", "--port", "8000"]')
  await r.bash(
    'docker rm -f probe; docker build -q -t parcel-api:after . && docker run --rm -d -e DATABASE_URL=postgresql://x -p 8000:8000 --name probe parcel-api:after && sleep 2 && curl -sS localhost:8000/health',
    {
      description: 'Build and try again',
      stdoutOverride: `probe
sha256:0b1de7a6f38c
a7710d2c94be
{"status":"ok","log_level":"info"}`,
    },
  )
  await r.edit(
    '.github/workflows/deploy.yml',
    '          tags: ghcr.io/brightlane/parcel-api:latest\n',
    `          tags: ghcr.io/brightlane/parcel-api:\${{ github.sha }}\n`,
  )
  await r.edit('.github/workflows/deploy.yml', './deploy/deploy.sh latest', `./deploy/deploy.sh \${{ github.sha }}`)
  await r.bash(
    `git add -A && git commit -F - <<'MSG'
Slim image, packages: write, deploy by commit sha

Multi-stage build on python:3.12-slim: 1.31 GB to 168 MB, runs as uid 10001.
Images are tagged with the commit sha instead of latest, so that a rollback is
just deploying an older tag. uvicorn listens on 0.0.0.0, it was loopback only.
MSG
git status --short`,
    { description: 'Commit' },
  )
  await r.bash('git push origin main && gh run watch --exit-status', {
    description: 'Push and watch the run',
    stdoutOverride: `To github.com:brightlane/parcel-api.git
   51c02ab..d90e1f7  main -> main
✓ build in 58s (ID 26100443871)
X deploy in 14s (ID 26100488020)
  ✓ Set up job
  ✓ Run actions/checkout@v4
  X Deploy over ssh
ANNOTATIONS
X Process completed with exit code 22.
deploy: .github#21`,
    exitCode: 1,
  })
  r.end(
    'CI builds and pushes now (the token lacked `packages: write`). The image is 168 MB instead of 1.31 GB. Two bugs in the image are fixed: `DB_URL` vs `DATABASE_URL` and uvicorn bound to 127.0.0.1. The deploy job still fails: curl exit code 22 on the health check of the host, I need to look at parcel-01.',
  )

  r.prompt('go ahead, ssh deploy@parcel-01 works from here')
  await r.bash('ssh deploy@parcel-01 "cd /srv/parcel && docker compose ps -a"', {
    description: 'State on the host',
    stdoutOverride:
      ps(`parcel-api-1      ghcr.io/brightlane/parcel-api:d90e1f7     api       Restarting (1) 8 seconds ago
parcel-db-1       postgres:latest                          db        Restarting (1) 21 seconds ago`),
  })
  await r.bash('ssh deploy@parcel-01 "cd /srv/parcel && docker compose logs --tail 8 db"', {
    description: 'Database log',
    stdoutOverride: `db-1  | PostgreSQL Database directory appears to contain a database; Skipping initialization
db-1  | 2024-06-12 08:41:07.218 UTC [1] FATAL:  database files are incompatible with server
db-1  | 2024-06-12 08:41:07.218 UTC [1] DETAIL:  The data directory was initialized by PostgreSQL version 15, which is not compatible with this version 16.3.`,
  })
  r.say(
    'postgres:latest moved to 16.3 under a volume of version 15. There is real data in that volume, so I do not touch it before asking.',
  )
  await r.bash(
    'ssh deploy@parcel-01 "docker volume inspect parcel_pgdata --format {{.CreatedAt}}; sudo du -sh /var/lib/docker/volumes/parcel_pgdata"',
    {
      description: 'How much data is in the volume?',
      stdoutOverride: '2023-11-02T09:12:44Z\n3.8G\t/var/lib/docker/volumes/parcel_pgdata',
    },
  )
  await r.bash('ssh deploy@parcel-01 "cd /srv/parcel && docker compose logs --tail 5 api"', {
    description: 'API log',
    stdoutOverride:
      'api-1  | psycopg.OperationalError: [Errno -2] Name or service not known: could not translate host name "db" to address\napi-1  | ERROR:    Application startup failed. Exiting.',
  })
  r.end(
    'The database does not start: `postgres:latest` is 16.3 now and the volume `parcel_pgdata` (3.8 GB, from 2023) was made by version 15. Either pin 15 again, or dump and restore into 16, about 20 minutes of downtime. Which one?',
  )

  r.prompt(
    'Pin 15.7 for now. The real upgrade to 16 has to wait for the Sunday window because the depots print labels around the clock on weekdays. And never latest for the database again.',
  )
  await r.multiEdit('compose.yaml', [
    {
      old_string: '    image: postgres:latest\n',
      new_string: '    image: postgres:15.7 # 16 needs dump and restore, Sunday window\n',
    },
    {
      old_string: '    depends_on:\n      - db\n',
      new_string: '    depends_on:\n      db:\n        condition: service_healthy\n',
    },
    {
      old_string: '      - pgdata:/var/lib/postgresql/data\n\nvolumes',
      new_string: `      - pgdata:/var/lib/postgresql/data
    healthcheck:
      test: ["CMD-SHELL", "pg_isready -U parcel -d parcel"]
      interval: 5s
      retries: 10

volumes`,
    },
  ])
  await r.bash('docker compose config -q', {
    description: 'Validate compose',
    stdoutOverride:
      'time="2024-06-12T10:52:31+02:00" level=warning msg="The \\"POSTGRES_PASSWORD\\" variable is not set. Defaulting to a blank string."',
  })
  await r.bash('DEPLOY_HOST=parcel-01 ./deploy/deploy.sh d90e1f7', {
    description: 'Deploy by hand',
    stdoutOverride: `compose.yaml                                  100%  912    41.3KB/s   00:00
 Container parcel-db-1  Healthy
 Container parcel-api-1  Started
curl: (22) The requested URL returned error: 502`,
    exitCode: 22,
  })
  await r.bash('ssh deploy@parcel-01 "cd /srv/parcel && docker compose ps"', {
    description: 'State on the host',
    stdoutOverride:
      ps(`parcel-api-1      ghcr.io/brightlane/parcel-api:d90e1f7     api       Up 40 seconds (unhealthy)       0.0.0.0:8000->8000/tcp
parcel-db-1       postgres:15.7                            db        Up 52 seconds (healthy)         5432/tcp`),
  })
  await r.bash(
    'ssh deploy@parcel-01 "docker inspect parcel-api-1 --format \'{{json .State.Health.Log}}\'" | head -c 400',
    {
      description: 'Why unhealthy?',
      stdoutOverride:
        '[{"ExitCode":-1,"Output":"OCI runtime exec failed: exec failed: unable to start container process: exec: \\"curl\\": executable file not found in $PATH: unknown"}]',
    },
  )
  r.say('The slim image has no curl, so the health check can never pass. Python is there anyway.')
  await r.edit(
    'compose.yaml',
    'test: ["CMD", "curl", "-f", "http://localhost:8000/health"]',
    `test: ["CMD", "python", "-c", "import urllib.request as u; u.urlopen('http://localhost:8000/health', timeout=3)"]`,
  )
  await r.bash('ssh deploy@parcel-01 "cat /etc/caddy/Caddyfile; journalctl -u caddy -n 3 --no-pager"', {
    description: 'Look at the reverse proxy',
    stdoutOverride: `parcel-01.brightlane.example {
	reverse_proxy localhost:8080
}
Jun 12 08:58:14 parcel-01 caddy[811]: {"level":"error","logger":"http.log.error","msg":"dial tcp 127.0.0.1:8080: connect: connection refused","status":502}`,
  })
  r.say(
    'Caddy forwards to 8080, compose publishes 8000 on all interfaces. I publish 127.0.0.1:8080 to the container port 8000, so the API is not reachable past the proxy.',
  )
  await r.edit('compose.yaml', '      - "8000:8000"\n', '      - "127.0.0.1:8080:8000" # only Caddy talks to it\n')
  await r.write(
    'deploy/deploy.sh',
    `#!/usr/bin/env bash
set -euo pipefail
TAG="\${1:?usage: deploy.sh TAG}"
HOST="\${DEPLOY_HOST:?}"

scp compose.yaml "deploy@$HOST:/srv/parcel/compose.yaml"
ssh "deploy@$HOST" "cd /srv/parcel && TAG=$TAG docker compose pull && TAG=$TAG docker compose up -d --wait --wait-timeout 90"
curl -fsS --retry 5 --retry-connrefused "https://$HOST/health" > /dev/null
echo "deployed $TAG"
`,
  )
  await r.bash('bash -n deploy/deploy.sh && git diff --stat', { description: 'Check the script' })
  await r.bash('DEPLOY_HOST=parcel-01 ./deploy/deploy.sh d90e1f7', {
    description: 'Deploy by hand',
    stdoutOverride: ` Container parcel-db-1  Healthy
 Container parcel-api-1  Healthy
deployed d90e1f7`,
  })
  await r.bash(
    `git commit -am "Pin postgres 15.7, wait for healthy containers, publish on 127.0.0.1:8080

latest had moved to 16.3, which refuses the version 15 volume. The upgrade waits
for the Sunday window. Health check uses python, the slim image has no curl."`,
    { description: 'Commit' },
  )
  await r.bash('git push origin main && gh run watch --exit-status', {
    description: 'Push and watch the run',
    stdoutOverride: `To github.com:brightlane/parcel-api.git
   d90e1f7..3be8c60  main -> main
✓ build in 31s (ID 26101902215)
✓ deploy in 44s (ID 26101951730)`,
  })
  r.end(
    'The workflow is green and parcel-01 answers. Reasons, in order: Postgres 16.3 on a version 15 volume (pinned to 15.7), a health check with curl in an image without curl, and Caddy forwarding to 8080 while compose published 8000. The API is published on 127.0.0.1:8080 only. To do on Sunday: dump and restore into 16.',
  )

  r.prompt('Nice. Grafana shows the api container at 480 MB since the deploy, is that a leak? Only look.')
  r.mcp(
    'mcp__grafana__query_prometheus',
    { expr: 'container_memory_working_set_bytes{name="parcel-api-1"}', range: '6h' },
    '[{"t":"09:00","v":118000000},{"t":"10:00","v":121000000},{"t":"11:00","v":479000000},{"t":"12:00","v":481000000},{"t":"13:00","v":480000000}]',
  )
  await r.bash(
    'ssh deploy@parcel-01 "docker top parcel-api-1 -o pid,rss,cmd; docker exec parcel-api-1 env | grep -i -E \'worker|concurrency\'"',
    {
      description: 'Processes and env in the container',
      stdoutOverride: `PID     RSS      CMD
40122   24112    /venv/bin/python /venv/bin/uvicorn parcel.main:app --host 0.0.0.0 --port 8000
40140   113904   /venv/bin/python -c from multiprocessing.spawn import spawn_main
40141   114020   /venv/bin/python -c from multiprocessing.spawn import spawn_main
40142   113888   /venv/bin/python -c from multiprocessing.spawn import spawn_main
40143   113932   /venv/bin/python -c from multiprocessing.spawn import spawn_main
WEB_CONCURRENCY=4`,
    },
  )
  await r.bash('ssh deploy@parcel-01 "cat /srv/parcel/.env | cut -d= -f1"', {
    description: 'Which variables does the host set?',
    stdoutOverride: 'POSTGRES_PASSWORD\nWEB_CONCURRENCY',
  })
  r.end(
    'No leak: the curve is flat at 480 MB since 11:00. Somebody set WEB_CONCURRENCY=4 in /srv/parcel/.env at that time, so uvicorn runs 4 workers of about 114 MB each. Nothing changed.',
  )
}

export const facts: { ask: string; expect: string[] }[] = [
  { ask: 'Why could CI not push the image?', expect: ['packages: write', 'denied'] },
  { ask: 'How large was and is the image?', expect: ['1.31', '168'] },
  { ask: 'Which variable name was wrong in the settings?', expect: ['DB_URL', 'DATABASE_URL'] },
  { ask: 'Why did the container reset connections?', expect: ['uvicorn', '127.0.0.1', '0.0.0.0'] },
  { ask: 'Why are images tagged with the commit sha?', expect: ['sha', 'latest', 'rollback'] },
  { ask: 'Why did the database not start on parcel-01?', expect: ['16.3', '15', 'volume'] },
  { ask: 'Why is Postgres pinned and when will it be upgraded?', expect: ['15.7', 'Sunday'] },
  { ask: 'Why was the api container unhealthy?', expect: ['curl', 'slim'] },
  { ask: 'On which address does compose publish the API?', expect: ['127.0.0.1:8080'] },
  { ask: 'Why does the api container use 480 MB?', expect: ['WEB_CONCURRENCY=4', '480 MB'] },
]
