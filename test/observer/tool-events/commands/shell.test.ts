import { describe, expect, it } from 'vitest'
import { ran } from './run.ts'

describe('commands.main command of a line', () => {
  it.each([
    ['cd /home/dev/shop && npm test', 'npm test', 'npm test', 'test'],
    ['npm test -- --verbose', 'npm test -- --verbose', 'npm test', 'test'],
    ['npm run test 2>&1 | tail -20', 'npm run test', 'npm test', 'test'],
    [
      'CI=1 NODE_ENV=test npx vitest run test/a.test.ts --reporter=dot',
      'npx vitest run test/a.test.ts --reporter=dot',
      'vitest test/a.test.ts',
      'test',
    ],
    ['pytest tests/a.py -x -q', 'pytest tests/a.py -x -q', 'pytest tests/a.py', 'test'],
    [
      'sudo -u app time python3.11 -m pytest ./tests/a.py --tb short',
      'python3.11 -m pytest ./tests/a.py --tb short',
      'pytest tests/a.py',
      'test',
    ],
    ['poetry run pytest -k total', 'poetry run pytest -k total', 'pytest -k total', 'test'],
    ['uv run --with x pytest', 'uv run --with x pytest', 'pytest', 'test'],
    [
      'bash -lc "cd api && bundle exec rspec spec/cart_spec.rb"',
      'bundle exec rspec spec/cart_spec.rb',
      'rspec spec/cart_spec.rb',
      'test',
    ],
    ['set -e; (cd web && npm run build) > build.log 2>&1', 'npm run build', 'npm build', 'build'],
    ['timeout 60 ./gradlew :app:test --info', './gradlew :app:test --info', 'gradle :app:test', 'test'],
    [
      'docker compose exec -T web python manage.py migrate',
      'docker compose exec -T web python manage.py migrate',
      'python manage.py migrate',
      'migration',
    ],
    ['git add -A && git commit -m "Fix" && git push', 'git commit -m "Fix"', 'git commit', 'commit'],
    ['cat dump.sql | psql shop | tail -3', 'psql shop', 'psql shop', 'run'],
    ['npm install && npm test; echo done', 'npm test', 'npm test', 'test'],
    ['for f in a b; do shellcheck $f; done', 'shellcheck $f', 'shellcheck $f', 'lint'],
  ])('%s', (line, command, key, kind) => {
    expect(ran(line)).toMatchObject({ command, key, kind })
  })

  it('a heredoc is in the key but not in the command', () => {
    const one = ran("python3 - <<'EOF'\nprint(1)\nEOF\n")
    const other = ran("python3 - <<'EOF'\nprint(2)\nEOF\n")
    expect(one.command).toBe('python3 -')
    expect(one.key).not.toBe(other.key)
  })

  it('only the subject of a message of several lines is shown', () => {
    const line = `git commit -m "$(cat <<'EOF'\nFix cart total\n\nPrices don't add up.\nEOF\n)"`
    expect(ran(line).command).toBe('git commit -m "Fix cart total…"')
  })

  it('the failed command is the one whose output is recognised', () => {
    const output = 'src/a.ts(3,5): error TS2322: Type string is not assignable to type number.'
    expect(ran('npx tsc --noEmit && npx vitest run', '', { failed: true, error: `Exit code 2\n${output}` }).kind).toBe(
      'typecheck',
    )
  })
})

describe('commands.kind', () => {
  it.each([
    [
      'test',
      'npm t|yarn test:unit|pnpm -r test|bun test|make check|just test|go test ./...|cargo nextest run|dotnet test|mvn -q verify|node --test|tox -e py311|php artisan test|vendor/bin/phpunit|composer test|ctest --test-dir build|mix test|swift test|npx playwright test|deno test|rails test|rake|python -m unittest|bundle exec rake test',
    ],
    [
      'build',
      'npm run build|make|ninja -C build|cmake --build build|gcc -o a a.c|clang++-17 a.cc|cargo build --release|go build ./...|mvn package|gradle assemble|docker build -t x .|docker compose build|vite build|tsc -b|swift build',
    ],
    [
      'lint',
      'npx eslint . --fix|biome check|ruff check .|flake8|cargo clippy|golangci-lint run|npm run lint|make fmt|black --check .|prettier --check .|go vet ./...|shellcheck x.sh|rubocop',
    ],
    ['typecheck', 'npx tsc --noEmit|mypy src|pyright|npm run typecheck|cargo check|flow check|npm run types'],
    [
      'install',
      'npm i|npm ci|yarn|yarn add x|pnpm add -D x|pip install -r requirements.txt|uv sync|uv pip install x|poetry add x|cargo add serde|go get x|go mod tidy|gem install rails|bundle install|bundle|composer require x|apt-get install -y jq|brew install jq',
    ],
    [
      'migration',
      'alembic upgrade head|npx prisma migrate dev|npx knex migrate:latest|flyway migrate|python manage.py migrate|rails db:migrate|bin/rails db:rollback|diesel migration run|goose up|php artisan migrate|npm run db:migrate|mix ecto.migrate',
    ],
    [
      'server',
      'npm run dev|npm start|uvicorn app:app|python manage.py runserver|rails s|docker compose up -d|vite|next dev|flask run|php -S localhost:8000',
    ],
    ['commit', 'git commit -am x|git -C /x commit --amend --no-edit'],
    [
      'git',
      'git checkout -b x|git merge main|git rebase main|git push origin HEAD|git revert abc|git stash|git tag v1|gh pr create --fill',
    ],
    [
      'look',
      'ls -la|cat a|git status|git diff|git log --oneline|git show|git blame a|git branch|git stash list|node --version|docker ps|kubectl get pods|npm ls|grep -rn x .|pip list',
    ],
    [
      'run',
      'curl -s localhost:3000|psql -c "select 1"|sqlite3 a.db|redis-cli ping|node app.js|python main.py|rm -rf dist|terraform apply|cargo run|go run .|./deploy|kubectl apply -f x.yaml',
    ],
  ])('%s', (kind, commands) => {
    for (const command of commands.split('|')) expect([command, ran(command).kind]).toEqual([command, kind])
  })
})
