/** Which kind of command a program is, for those that need no look at their arguments. */
import type { CommandKind } from '../../types.ts'

const BY_KIND: Record<Exclude<CommandKind, 'commit' | 'git' | 'run'>, string> = {
  test: `jest vitest mocha ava tap tape karma jasmine cypress pytest unittest nose2 tox nox rspec minitest phpunit pest paratest ctest
    bats prove behave cucumber robot busted testacular gotestsum c8 nyc stryker k6 detox ginkgo richgo`,
  build: `webpack rollup esbuild tsup swc parcel gcc g++ cc c++ clang clang++ ninja javac kotlinc scalac rustc ghc ocamlc dune bazel
    bazelisk buck2 meson cmake xcodebuild msbuild ant sass tsdown unbuild pkgroll microbundle ld ar nasm zig electron-builder
    ncc wasm-pack maturin pyinstaller goreleaser packer mkdocs sphinx-build hugo jekyll protoc buf make`,
  lint: `eslint biome ruff flake8 pylint golangci-lint rubocop shellcheck prettier black isort stylelint oxlint standard xo hadolint
    yamllint markdownlint markdownlint-cli2 gofmt goimports rustfmt clang-format clang-tidy cppcheck ktlint detekt phpcs phpcbf
    php-cs-fixer pint checkstyle credo standardrb bandit semgrep tflint actionlint commitlint knip depcheck staticcheck revive
    swiftlint dprint autopep8 pydocstyle`,
  typecheck: 'mypy pyright basedpyright flow vue-tsc pyre pytype phpstan psalm sorbet srb dialyzer tsgo ty',
  install:
    'pip pip-sync apt apt-get apk yum dnf pacman brew choco winget scoop nvm pyenv rustup volta fnm asdf corepack conda mamba',
  migration:
    'alembic knex flyway liquibase diesel goose dbmate sequelize sequelize-cli drizzle-kit typeorm migrate atlas sqitch yoyo',
  server: `uvicorn gunicorn hypercorn daphne nodemon flask serve http-server live-server puma unicorn rackup nginx ts-node-dev streamlit
    jupyter wrangler celery sidekiq caddy`,
  look: `ls cat head tail less more grep egrep fgrep rg ag ack find fd tree pwd echo printf which whereis type file stat du df wc sort
    uniq cut tr awk sed jq yq diff cmp env printenv date whoami id uname hostname ps top lsof netstat ss free uptime history man
    cd pushd popd set export unset source . sleep true false test exit return wait clear trap alias umask ulimit shopt read local
    bat exa eza column nl xxd hexdump od strings tee basename dirname realpath readlink md5sum sha256sum nproc tput seq yes fold
    pgrep jobs kill pkill killall break continue declare typeset disown nm objdump otool ldd rev tac paste comm`,
}

export const PROGRAM_KINDS: ReadonlyMap<string, CommandKind> = new Map(
  Object.entries(BY_KIND).flatMap(([kind, names]) =>
    names
      .trim()
      .split(/\s+/)
      .map((name): [string, CommandKind] => [name, kind as CommandKind]),
  ),
)

/** Shell builtins and the like that never are what a line was about. */
export const IDLE_PROGRAMS = new Set(
  'cd pushd popd set export unset source . sleep true false exit return wait clear trap alias umask ulimit shopt local echo printf declare : pwd disown break continue'.split(
    ' ',
  ),
)

/** Programs that only pass on, cut or colour what comes through a pipe. */
export const FILTERS = new Set(
  'head tail grep egrep fgrep rg tee sort uniq wc less more cat sed awk cut tr jq yq column nl fold ts strings tac rev paste bat ccze pino-pretty xxd sponge'.split(
    ' ',
  ),
)
