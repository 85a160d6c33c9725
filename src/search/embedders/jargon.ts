/**
 * Programming terms that the word vectors do not know, or know with another meaning (a docker loads ships), explained
 * with words that they know. Names that mean the same in any text need no entry.
 */
const LINES = `
acl: access control permission
adb: android debugging
ansi: terminal
apk: android package
apt: linux package installer
arg args argv kwargs: argument
arr: array
async asynchronously: asynchronous
auth authn oauth: authentication login
authz: authorization permission
autoscaler autoscaling: automatic scaling servers
aws: amazon cloud
backoff: delay retry
bcrypt argon scrypt: password encryption
bool: boolean
boilerplate: repetitive code
btn: button
btree: tree index
buf: buffer
bundler webpack rollup esbuild vite: javascript packaging compiler
cdn: content delivery network
celery sidekiq: background queue
chmod chown: file permission
ci: continuous integration
cjs esm: javascript module
clippy eslint linter prettier biome: code style checker
cmd: command
codec: encoding
codegen: code generation
col cols: column
conf config configs: configuration
const: constant
cors csp: browser security policy
coroutine goroutine: concurrent thread
cpu: processor
cron crontab: scheduled periodic
crud: create read update delete
csrf xss: attack vulnerability web
ctor: constructor
ctx: context
cwd pwd: current directory
daemonset kubernetes kubectl helm: container cluster deployment
dataframe pandas numpy: data table python
db dbs: database
deadlock deadlocks: blocked lock waiting
debounce debounced throttle throttled: delay frequent
decl: declaration
dedupe dedup deduplicate deduplication: duplicate removal
deps dep: dependency
deserialize serialize serialization serializer: encoding format
dest dst: destination
dev: development
devops: development operations
diff diffs: difference
dir dirs: directory
dns: domain name server
docker dockerfile podman: container
docs doc readme: documentation
dom: document browser tree
dotenv env envs: environment variables
dropdown: menu
dto: data object
eacces eperm: permission denied error
econnrefused econnreset: connection refused error
eaddrinuse: port occupied error
enoent: file missing error
etimedout: timeout error
elasticsearch lucene: search engine index
endian endianness: byte order
enum enums: enumeration
err errs: error
evt evts: event
exe: executable
exec: execute
expr: expression
ffi: foreign function interface
fk: foreign key
fmt: format
fn func funcs: function
fs: file system
gcp: google cloud
gif jpeg jpg png svg webp: image
git: version control repository
github gitlab bitbucket: repository hosting
glob: filename pattern
golang: programming language
gpu: graphics processor
graphql: query interface
grep: text search
grpc protobuf: remote procedure call
gzip zlib brotli: compression
hashmap dict: dictionary lookup table
heartbeat keepalive: alive connection
hmr: reload
hostname: server name
hotfix: urgent fix
internationalization: translation language
ide vscode intellij vim emacs neovim: editor
idempotent idempotency: repeatable same
idx: index
impl: implementation
infra: infrastructure
init initialise initialize initializes initialized: start
int: integer
io: input output
ipc: process communication
iter iterator iterators: iteration
jit rustc tsc: compiler
jsdoc tsdoc: documentation comments
json yaml yml toml: data format
junit pytest jest vitest mocha rspec qa: testing
jvm jdk jre: java
jwt: authentication token
kafka rabbitmq: message queue
lang: language
latency: delay
len: length
lib libs: library
localhost loopback: local computer
lockfile: lock file
lru memoize memoization: cache
mariadb mysql postgres postgresql sqlite psql: database sql
middleware: intermediate layer
mongo mongodb dynamodb redis memcached: database cache
monorepo: single repository
msg msgs: message
mutex semaphore: lock
namespace namespaces: name scope
nav navbar: navigation
nginx apache caddy: web server
npm yarn pnpm pypi pip: package installer
nullable: optional empty
num nums: number
obj objs: object
oidc saml sso: login authentication
oom: memory exhausted
opts opt: options
orm: database object
os: operating system
param params: parameter
perf: performance
pk: primary key
pkg pkgs: package
polyfill shim: compatibility
pr prs: review changes
prev: previous
prod: production
proc procs workflow workflows: process
proto: protocol
ptr: pointer
pubsub: message subscription
ram rss: memory
rbac: roles permission
ref refs: reference
refactor refactored refactoring refactors: restructure code
regex regexp regexes: pattern expression
repo repos: repository
req reqs: request
res resp: response
retry retries retried: repeat attempt
rollback rollbacks: undo
rpc: remote call
runtime: execution
scss sass: style sheet
schema schemas: structure definition
sdk: development library
sha: hash
sigint sigterm sigkill: stop signal
spinner: loading indicator
sql: database query
src: source
ssh: remote shell
ssl tls https: encryption security certificate
stacktrace backtrace traceback: error trace
stderr stdout stdin: output stream
stmt: statement
str strs: string
subfolder subdirectory: folder
svc: service
symlink symlinks: link file
sync: synchronize
syscall: kernel call
tcp udp: network protocol
temp tmp: temporary
terraform ansible: infrastructure configuration
timestamp timestamps: time
tokenizer tokeniser lexer: parser
tooltip: hint
ttl: expiry time
tuple tuples: list
txn tx: transaction
txt: text
typescript: javascript types
ui ux gui: interface user
uid uuid guid: unique identifier
undef: undefined
unicode utf ascii: character encoding
unmount umount: remove
upsert: insert update
uri url urls: address link
usr: user
util utils: utilities
val vals: value
var vars: variable
venv virtualenv: python environment
vm vms: virtual machine
wal: log writing
wasm: binary browser
webhook webhooks: callback notification
webpage: page
websocket websockets: connection socket
whitespace: blank space
wsl: windows linux
zod: validation schema
`

/** Words that explain a term. */
export const JARGON: ReadonlyMap<string, readonly string[]> = new Map(
  LINES.trim()
    .split('\n')
    .flatMap((line) => {
      const [heads = '', meaning = ''] = line.split(': ')
      return heads.split(' ').map((head) => [head, meaning.split(' ')] as const)
    }),
)
