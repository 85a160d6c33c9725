/** The rules of a title: present, under ten words, imperative, specific enough to be told from garbage. */
const MOST_WORDS = 9
const MOST_CHARS = 80

/** What is wrong with it, null if nothing is. */
export function titleProblem(title: string | null): string | null {
  if (title === null || title.trim() === '') return 'there is none'
  if (title.length > MOST_CHARS) return `${title.length} characters`
  const words = title.trim().split(/\s+/)
  if (words.length > MOST_WORDS) return `${words.length} words`
  if (/\.$/.test(title) && !/\.\.\.$/.test(title)) return 'it ends in a period'
  if (GARBAGE.test(title)) return 'it holds escapes or raw data'
  if (words.some((word) => ABSOLUTE_PATH.test(word) || word.split(/[/\\]/).length > MOST_PATH_PARTS))
    return 'it holds a raw path'
  return isImperative(words[0] ?? '') ? null : 'it does not begin with a verb in the imperative'
}

const GARBAGE =
  /\p{Cc}|\ufffd|\\(?:n|r|t|x[0-9a-f]{2}|u[0-9a-f]{4}|033)|\[\d+(?:;\d+)*m|\{\s*"|"\s*:\s*[{["]|<\/?\w+>|```/iu
const ABSOLUTE_PATH = /^["'`(]*(?:\/[\w.@-]+\/|~\/|[A-Za-z]:\\)/
/** `src/cart/total.ts` is a name people use; more is a path. */
const MOST_PATH_PARTS = 3

const VERBS = new Set(
  `abort absorb accelerate accept access accumulate activate adapt add address adjust adopt advance alias align allocate
  allow amend analyze annotate answer append apply approve archive arrange ask assemble assert assess assign attach
  audit authenticate authorize automate avoid await back backfill backport balance base batch begin bench benchmark
  bind block boost bootstrap bound break bring broadcast buffer build bump bundle bypass cache calculate call cancel cap
  capture carry catch categorize centralize chain change check choose clamp clarify classify clean clear clip clone close
  coalesce collapse collect combine commit compact compare compile complete compose compress compute concatenate
  conclude configure confirm connect consolidate constrain construct consume contain continue convert copy correct count
  cover crash create cut deal debounce debug decide declare decode decouple decrease decrypt dedupe deduplicate default
  defer define delay delegate delete demonstrate deny deploy deprecate derive describe deserialize design detach detect
  determine diagnose diff disable disallow discard disconnect discover dispatch dispose distinguish distribute document
  download downgrade drain draft draw drive drop dump duplicate edit eliminate embed emit emulate enable encapsulate
  encode encrypt end enforce enhance ensure enter enumerate escape establish estimate evaluate evict examine exclude
  execute exit expand expect experiment explain explore export expose extend extract fail fall fetch figure fill filter
  finalize find finish fix flag flatten flip flush fold follow forbid force format forward free freeze fuse gate gather
  generate get give go grant group grow guard guarantee handle harden hash hide highlight hoist honor hook identify ignore
  implement import improve include increase increment index infer inform inherit init initialize inject inline insert
  inspect install instantiate instrument integrate intercept interpolate introduce invalidate invert investigate invoke
  isolate iterate join judge jump keep kill label launch lay lazy lead learn leave lengthen let leverage lift limit link
  lint list listen load localize locate lock log look loop loosen lower maintain make manage map mark mask match
  materialize measure memoize mention merge migrate minimize mirror mock model modernize modify modularize monitor mount
  move multiply mute name narrow navigate negate negotiate nest normalize note notify observe obtain omit open optimize
  order organize outline output overhaul overload override own pack package pad page paginate parallelize parameterize
  parse partition pass patch pause perform permit persist pick pin pipe place plan point poll pool populate port
  postpone prefer prefetch prefix prepare prepend preserve prevent print prioritize probe process produce profile
  prohibit promote prompt propagate propose protect prototype prove provide provision prune publish pull purge push put
  query queue quote raise randomize read rebase rebuild receive recommend reconcile reconnect record recover recreate
  recycle redesign redirect redo reduce refactor reference refine reflect refresh refuse register regenerate reject
  relate relax release reload relocate rely remember remove rename render reopen reorder reorganize repair repeat replace
  replay reply report represent reproduce request require rerun reschedule reserve reset resize resolve respect respond
  restart restore restrict restructure resume retain rethrow retire retrieve retry return reuse reveal revert review
  revise rewrite roll rotate round route run sanitize satisfy save scaffold scale scan schedule scope search secure seed
  segment select send separate sequence serialize serve set settle shard share shift ship shorten show shrink shuffle
  shut sign silence simplify simulate skip slice slow snapshot solve sort specify speed split spread stabilize stage
  standardize start state stop store stream streamline strengthen strip structure stub study style submit subscribe
  substitute subtract suggest summarize supply support suppress survey suspend swap switch sync synchronize tag take
  target teach tear terminate test throttle throw tidy tie tighten time toggle tokenize touch trace track train transfer
  transform translate traverse treat trigger trim truncate try tune turn type unblock undo unify uninstall unlock unpack
  unpin unregister unset unsubscribe untangle unwrap update upgrade upload upsert use validate vendor verify version
  view wait walk warn watch weigh widen wire work wrap write yield zero`.split(/\s+/),
)

function isImperative(first: string): boolean {
  const word = first.replace(/[^\p{L}-].*$/u, '').toLowerCase()
  if (VERBS.has(word)) return true
  const [, stem] = /^(?:re|un|de|dis|pre|over|auto|co)-?(.+)$/.exec(word) ?? []
  if (stem !== undefined && VERBS.has(stem)) return true
  return /[a-z]{2}(?:ize|ise|ify)$/.test(word)
}
