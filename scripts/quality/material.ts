/**
 * Files and output of the size that real projects have: what an agent reads on its way and a memory must not keep.
 * Plain and regular on purpose; what a scenario is about is written by hand.
 */
const NOUNS = [
  'address',
  'batch',
  'carrier',
  'customer',
  'invoice',
  'label',
  'order',
  'parcel',
  'price',
  'refund',
  'return',
  'route',
  'stock',
  'supplier',
  'ticket',
  'voucher',
]
const title = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1)
const repeat = (count: number, line: (n: number, noun: string) => string): string =>
  Array.from({ length: count }, (_, n) => line(n, NOUNS[n % NOUNS.length] ?? 'item')).join('')

export function openapi(paths: number): string {
  const path = (n: number, noun: string) => `  /${noun}s${n < NOUNS.length ? '' : `/archive-${n}`}/{id}:
    get:
      operationId: get${title(noun)}${n}
      parameters:
        - { name: id, in: path, required: true, schema: { type: string, format: uuid } }
      responses:
        '200': { description: The ${noun}, content: { application/json: { schema: { $ref: '#/components/schemas/${title(noun)}' } } } }
        '404': { description: There is no such ${noun} }
`
  return `openapi: 3.1.0\ninfo: { title: Public API, version: 3.4.1 }\npaths:\n${repeat(paths, path)}`
}

export function changelog(releases: number): string {
  const release = (n: number, noun: string) =>
    `## 2.${releases - n}.0\n\n- The list of ${noun}s is paged\n- ${title(noun)}s can be exported as CSV\n- Fixed the time zone of ${noun} reports\n\n`
  return `# Changelog\n\n${repeat(releases, release)}`
}

export function tsModule(functions: number): string {
  const unit = (
    n: number,
    noun: string,
  ) => `export async function list${title(noun)}s${n}(store: Store, page: Page): Promise<${title(noun)}[]> {
  const rows = await store.query('select * from ${noun}s order by created_at desc limit $1 offset $2', [page.size, page.start])
  return rows.map((row) => to${title(noun)}(row))
}

`
  return `import type { Page, Store } from '../types'\n\n${repeat(functions, unit)}`
}

export function pyModule(functions: number): string {
  const unit = (n: number, noun: string) => `def summarise_${noun}_${n}(rows: list[dict]) -> dict[str, Decimal]:
    """Totals per ${noun}, largest first."""
    totals: dict[str, Decimal] = defaultdict(Decimal)
    for row in rows:
        totals[row["${noun}"]] += Decimal(row["amount"])
    return dict(sorted(totals.items(), key=lambda item: item[1], reverse=True))


`
  return `from collections import defaultdict\nfrom decimal import Decimal\n\n\n${repeat(functions, unit)}`
}

export function cppModule(functions: number): string {
  const unit = (n: number, noun: string) => `// Draws a ${noun} with its outline; clipped to the canvas.
void draw_${noun}_${n}(Canvas& canvas, const ${title(noun)}& ${noun}, Colour colour) {
  for (const Segment& segment : ${noun}.outline()) {
    const Segment clipped = canvas.clip(segment);
    if (clipped.empty()) continue;
    canvas.line(clipped.from, clipped.to, colour);
  }
}

`
  return `#include "draw.hpp"\n\n${repeat(functions, unit)}`
}

export function javaClass(packageName: string, name: string, methods: number): string {
  const unit = (n: number, noun: string) => `    /** The ${noun}s of a day, oldest first. */
    public List<String> ${noun}sOf${n}(LocalDate day) {
        List<String> found = new ArrayList<>();
        for (Map.Entry<String, LocalDate> entry : ${noun}Days.entrySet()) {
            if (entry.getValue().equals(day)) found.add(entry.getKey());
        }
        Collections.sort(found);
        return found;
    }

`
  const fields = repeat(
    Math.min(methods, NOUNS.length),
    (_, noun) => `    private final Map<String, LocalDate> ${noun}Days = new HashMap<>();\n`,
  )
  return `package ${packageName};\n\nimport java.time.LocalDate;\nimport java.util.*;\n\npublic class ${name} {\n${fields}\n${repeat(methods, unit)}}\n`
}

export function schemaDump(tables: number): string {
  const table = (n: number, noun: string) => `CREATE TABLE public.${noun}s_${n} (
    id bigint NOT NULL,
    reference text NOT NULL,
    state text DEFAULT 'new'::text NOT NULL,
    payload jsonb DEFAULT '{}'::jsonb NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL
);

ALTER TABLE ONLY public.${noun}s_${n} ADD CONSTRAINT ${noun}s_${n}_pkey PRIMARY KEY (id);
CREATE INDEX ${noun}s_${n}_created ON public.${noun}s_${n} USING btree (created_at);

`
  return `SET statement_timeout = 0;\nSET client_encoding = 'UTF8';\n\n${repeat(tables, table)}`
}

export function accessLog(lines: number): string {
  const two = (n: number) => String(n).padStart(2, '0')
  return repeat(
    lines,
    (n, noun) =>
      `10.1.0.${n % 200} - - [12/Mar/2026:09:${two(Math.floor(n / 60) % 60)}:${two(n % 60)} +0000] "GET /api/${noun}s?page=${n % 9} HTTP/1.1" 200 ${1_200 + ((n * 37) % 5_000)} "-" "okhttp/4.12"\n`,
  )
}

export function packageList(count: number): string {
  return repeat(
    count,
    (n, noun) => `├── @acme/${noun}-${n % 2 === 0 ? 'client' : 'types'}@${1 + (n % 4)}.${n % 10}.${n % 7}\n`,
  )
}
