import { describe } from 'vitest'
import { created, edited, patched } from './edit.ts'
import { examples, swap } from './examples.ts'

const PACKAGE = `{
  "name": "shop",
  "scripts": {
    "test": "jest"
  },
  "dependencies": {
    "express": "^4.18.0",
    "zod": "^3.0.0"
  },
  "files": [
    "dist"
  ]
}
`

const WORKFLOW = `on:
  push:
    branches:
    - main
jobs:
  test:
    runs-on: ubuntu-22.04 # old
    steps:
      - uses: actions/checkout@v3
      - name: Test
        run: |
          npm ci
          key: value
      - uses: actions/setup-node@v4
        with:
          node-version: 18
`

const TOML = `[package]
name = "shop"
version = "0.1.0"

[dependencies]
serde = { version = "1.0", features = ["derive"] }

[tool.ruff]
select = [
  "E",
  "F",
]
`

describe('configuration files', () => {
  examples([
    [
      'package.json',
      edited(
        'package.json',
        PACKAGE,
        swap(
          PACKAGE,
          ['"jest"', '"vitest run"'],
          ['^4.18.0', '^5.0.0'],
          ['    "zod": "^3.0.0"', '    "pino": "^9.0.0"'],
        ),
      ),
      {
        symbols: [],
        values: [
          'scripts.test: jest -> vitest run',
          'dependencies.express: ^4.18.0 -> ^5.0.0',
          'dependencies.pino: - -> ^9.0.0',
          'dependencies.zod: ^3.0.0 -> -',
        ],
      },
    ],
    [
      'a comma is no change',
      edited('package.json', PACKAGE, swap(PACKAGE, ['    "dist"', '    "dist",\n    "docs"'])),
      { values: ['files: - -> docs'] },
    ],
    [
      'a new JSON file',
      created('tsconfig.json', '{\n  "compilerOptions": {\n    "strict": true\n  }\n}\n'),
      { values: ['compilerOptions.strict: - -> true'] },
    ],
    [
      'YAML',
      edited(
        '.github/workflows/ci.yml',
        WORKFLOW,
        swap(
          WORKFLOW,
          ['ubuntu-22.04 # old', 'ubuntu-24.04'],
          ['- main', '- trunk'],
          ['checkout@v3', 'checkout@v4'],
          ['node-version: 18', 'node-version: 20'],
        ),
      ),
      {
        values: [
          'on.push.branches: main -> trunk',
          'jobs.test.runs-on: ubuntu-22.04 -> ubuntu-24.04',
          'jobs.test.steps.uses: actions/checkout@v3 -> actions/checkout@v4',
          'jobs.test.steps.with.node-version: 18 -> 20',
        ],
      },
    ],
    [
      'text in a block is no key',
      edited('ci.yml', WORKFLOW, swap(WORKFLOW, ['key: value', 'key: other'])),
      { values: [] },
    ],
    [
      'TOML',
      edited(
        'Cargo.toml',
        TOML,
        swap(TOML, ['0.1.0', '0.2.0'], ['version = "1.0"', 'version = "1.1"'], ['"F",', '"F",\n  "I",']),
      ),
      {
        values: [
          'package.version: 0.1.0 -> 0.2.0',
          'dependencies.serde: { version = "1.0", features = ["derive"] } -> { version = "1.1", features = ["derive"] }',
          'tool.ruff.select: - -> I',
        ],
      },
    ],
    [
      'INI',
      edited('setup.cfg', '[flake8]\nmax-line-length = 79\n', '[flake8]\nmax-line-length = 100\n'),
      { values: ['flake8.max-line-length: 79 -> 100'] },
    ],
    [
      'properties',
      patched('application.properties', '-server.port=8080', '+server.port=9090'),
      { values: ['server.port: 8080 -> 9090'] },
    ],
    [
      '.env has names only',
      edited('.env.local', 'PORT=3000\nSTRIPE_KEY=abc\n', 'PORT=4000\nSTRIPE_KEY=abc\nSENTRY_DSN=https://x@y/1\n'),
      { values: ['PORT: *** -> ***', 'SENTRY_DSN: - -> ***'] },
    ],
    [
      'a password in a URL',
      patched('app.yml', '+url: postgres://shop:hunter2@db:5432/shop'),
      { values: ['url: - -> postgres://shop:***@db:5432/shop'] },
    ],
    [
      'requirements',
      patched('requirements.txt', '-requests==2.31.0', '+requests==2.32.3', '+httpx>=0.27'),
      { values: ['requests: ==2.31.0 -> ==2.32.3', 'httpx: - -> >=0.27'] },
    ],
    [
      'go.mod',
      patched('go.mod', '-go 1.21', '+go 1.22', '+\tgithub.com/gin-gonic/gin v1.10.0'),
      { values: ['go: 1.21 -> 1.22', 'github.com/gin-gonic/gin: - -> v1.10.0'] },
    ],
    [
      'Terraform',
      edited(
        'main.tf',
        'resource "aws_instance" "web" {\n  instance_type = "t3.micro"\n  tags = {\n    Name = "web"\n  }\n}\n',
        'resource "aws_instance" "web" {\n  instance_type = "t3.large"\n  tags = {\n    Name = "web-1"\n  }\n}\n',
      ),
      {
        symbols: ['modified aws_instance.web'],
        values: ['aws_instance.web.instance_type: t3.micro -> t3.large', 'aws_instance.web.tags.Name: web -> web-1'],
      },
    ],
    [
      'CSS',
      patched('a.css', ' :root {', '-  --brand: #fff;', '+  --brand: #000;', ' }', '+@keyframes fade-in {', '+}'),
      { symbols: ['new fade-in'], values: ['--brand: #fff -> #000'] },
    ],
    [
      'Markdown',
      edited(
        'README.md',
        '# Shop\n\nIntro\n\n## Install\n\nnpm i\n',
        '# Shop\n\nIntro\n\n## Install\n\nnpm ci\n\n```sh\n# not a heading\n```\n\n## Usage: `shop run`\n\nshop\n',
      ),
      { symbols: ['new Usage: `shop run`', 'modified Install'], notable: [] },
    ],
    ['a lock file', patched('package-lock.json', '+  "a": "1"'), { values: [] }],
  ])
})
