import { describe, expect, it } from 'vitest'
import { ran } from './run.ts'

describe('commands.facts', () => {
  it.each([
    [
      'npm install -D express@4.19.2',
      'added 57 packages, and audited 58 packages in 3s',
      'Installed express@4.19.2 (dev)',
    ],
    ['npm uninstall lodash', 'removed 1 package in 1s', 'Removed lodash'],
    ['pnpm add -D vitest', 'devDependencies:\n+ vitest 1.2.0\n\nDone in 2s', 'Installed vitest@1.2.0 (dev)'],
    ['yarn add express', 'info Direct dependencies\n└─ express@4.19.2', 'Installed express@4.19.2'],
    ['pip install flask', 'Successfully installed flask-3.0.0 werkzeug-3.0.1', 'Installed flask@3.0.0'],
    [
      'uv add flask',
      'Installed 2 packages in 12ms\n - flask==2.0.0\n + flask==3.0.0',
      'Updated flask@3.0.0 (was 2.0.0)',
    ],
    ['poetry add flask', '  - Installing flask (3.0.0)', 'Installed flask@3.0.0'],
    ['cargo add serde', '      Adding serde v1.0.197 to dependencies', 'Installed serde@1.0.197'],
    [
      'go get example.com/x',
      'go: upgraded example.com/x v1.0.0 => v1.2.0',
      'Updated example.com/x@v1.2.0 (was v1.0.0)',
    ],
    [
      'composer require monolog/monolog',
      '  - Installing monolog/monolog (3.5.0): Extracting archive',
      'Installed monolog/monolog@3.5.0',
    ],
    ['bundle update', 'Installing rails 7.1.3 (was 7.0.8)', 'Updated rails@7.1.3 (was 7.0.8)'],
    ['sudo apt-get install -y jq', 'Setting up jq (1.6-2.1) ...', 'Installed jq@1.6-2.1'],
    ['brew install jq', '🍺  /opt/homebrew/Cellar/jq/1.7.1: 19 files, 1.4MB', 'Installed jq@1.7.1'],
    [
      'alembic upgrade head',
      'INFO  [alembic.runtime.migration] Running upgrade a1 -> b2, add orders',
      'Applied migration b2, add orders',
    ],
    ['npx prisma migrate deploy', 'Applying migration `20240101_add_orders`', 'Applied migration 20240101_add_orders'],
    ['python manage.py migrate', '  Applying shop.0002_orders... OK', 'Applied migration shop.0002_orders'],
    ['rails db:rollback', '== 20240101 AddOrders: reverted (0.01s) ====', 'Rolled back migration 20240101 AddOrders'],
    [
      'php artisan migrate',
      '  2024_01_01_000000_create_orders_table .......... 12ms DONE',
      'Applied migration 2024_01_01_000000_create_orders_table',
    ],
    ['goose up', 'OK   20240101_add_orders.sql (12ms)', 'Applied migration 20240101_add_orders.sql'],
    ['npm run dev', '  ➜  Local:   http://localhost:5173/', 'Server listens on http://localhost:5173'],
    [
      'uvicorn app:app',
      'INFO:     Uvicorn running on http://127.0.0.1:8000 (Press CTRL+C to quit)',
      'Server listens on http://127.0.0.1:8000',
    ],
    ['node server.js', 'Listening on port 3000', 'Server listens on port 3000'],
    [
      'git commit -m "Fix cart total"',
      '[main 1a2b3c4] Fix cart total\n 2 files changed, 10 insertions(+), 3 deletions(-)',
      'Committed 1a2b3c4 on main: Fix cart total',
    ],
    [
      'git commit -m "Fix" -m "Floats lose cents."',
      '[main 1a2b3c4] Fix',
      'Commit 1a2b3c4 explains: Floats lose cents.',
    ],
    ['git push', '   1a2b3c4..5d6e7f8  main -> main', 'Pushed main to main (1a2b3c4..5d6e7f8)'],
    ['git checkout -b feat', "Switched to a new branch 'feat'", 'Created branch feat'],
    ['git rebase main', 'Successfully rebased and updated refs/heads/feat.', 'Rebased feat'],
    ['git tag v1.2.0', '', 'Tagged v1.2.0'],
    ['gh pr create --fill', 'https://github.com/o/shop/pull/12', 'Opened https://github.com/o/shop/pull/12'],
    ['docker build -t shop:1.2 .', '#9 naming to docker.io/library/shop:1.2 done', 'Built image shop:1.2'],
    ['docker compose up -d', ' ✔ Container shop-db-1  Started', 'Container shop-db-1 is started'],
    [
      'terraform apply',
      'Apply complete! Resources: 1 added, 0 changed, 0 destroyed.',
      'Terraform: Apply complete! Resources: 1 added, 0 changed, 0 destroyed',
    ],
    [
      'curl -si -X POST http://localhost:3000/orders?token=x',
      'HTTP/1.1 201 Created\n\n{}',
      'POST http://localhost:3000/orders answers 201 Created',
    ],
    ["curl -s -o /dev/null -w '%{http_code}' http://localhost:3000/", '404', 'GET http://localhost:3000/ answers 404'],
    ['node --version', 'v20.1.0', 'node is version v20.1.0'],
    ['python3 --version && node -v', 'Python 3.11.7\nv20.1.0', 'python is version 3.11.7'],
    [
      'npm run build',
      'dist/assets/index-a1.js   143.21 kB │ gzip: 46.11 kB\n✓ built in 1.23s',
      'Build output: dist/assets/index-a1.js 143.21 kB (gzip 46.11 kB)',
    ],
    [
      'cargo build --release',
      '    Finished `release` profile [optimized] target(s) in 2.30s',
      'Build: succeeded in 2.3 s (cargo build --release)',
    ],
    ['npx eslint .', '✖ 2 problems (0 errors, 2 warnings)', 'Lint: 0 errors, 2 warnings (npx eslint .)'],
    ['mypy src', 'Success: no issues found in 3 source files', 'Type check: no errors (mypy src)'],
  ])('%s', (command, output, fact) => {
    const result = ran(command, output)
    expect(result.facts).toContain(fact)
    expect(result).toMatchObject({ ok: true, errors: [] })
  })

  it('every command of a line has facts', () => {
    const output =
      '[main 1a2b3c4] Fix\n 1 file changed, 1 insertion(+)\nTo github.com:o/shop.git\n   0000001..1a2b3c4  main -> main'
    expect(ran('git add . && git commit -m Fix && git push', output).facts).toEqual([
      'Committed 1a2b3c4 on main: Fix',
      'Pushed main to main (0000001..1a2b3c4)',
    ])
  })

  it('the port in use is a fact', () => {
    expect(ran('npm run dev', 'Error: listen EADDRINUSE: address already in use :::3000')).toMatchObject({
      ok: false,
      headline: 'port 3000 is already in use',
    })
  })

  it('a command that only shows something has no facts', () => {
    expect(ran('cat notes.txt', 'Tests: 3 failed, 3 total')).toMatchObject({
      kind: 'look',
      ok: true,
      headline: null,
      facts: [],
      errors: [],
    })
  })
})
