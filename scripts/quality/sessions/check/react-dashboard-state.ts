import type { Recorder } from '../../recorder.ts'
import { startProject } from './lib/project.ts'

export const project = 'orbit-dashboard'

/** React and TypeScript: a context that renders everything becomes a store, a major upgrade breaks it, the bundle shrinks. */

const packageJson = `{
  "name": "orbit-dashboard",
  "private": true,
  "version": "2.7.0",
  "type": "module",
  "scripts": {
    "dev": "vite",
    "build": "tsc -b && vite build",
    "test": "vitest run",
    "lint": "eslint src"
  },
  "dependencies": {
    "date-fns": "2.30.0",
    "moment": "2.29.4",
    "react": "18.3.1",
    "react-dom": "18.3.1",
    "recharts": "2.12.7"
  },
  "devDependencies": {
    "@testing-library/react": "16.0.0",
    "@vitejs/plugin-react": "4.2.1",
    "typescript": "5.4.5",
    "vite": "5.2.11",
    "vitest": "1.6.0"
  }
}
`

const filterContext = `import { createContext, type ReactNode, useContext, useMemo, useReducer } from 'react'

export type Severity = 'info' | 'warning' | 'critical'

export interface FilterState {
  range: { from: string; to: string }
  severities: Severity[]
  station: string | null
  search: string
}

export type FilterAction =
  | { type: 'setRange'; from: string; to: string }
  | { type: 'toggleSeverity'; severity: Severity }
  | { type: 'setStation'; station: string | null }
  | { type: 'setSearch'; search: string }
  | { type: 'reset' }

export const initialFilters: FilterState = {
  range: { from: '2024-05-01', to: '2024-05-31' },
  severities: ['info', 'warning', 'critical'],
  station: null,
  search: '',
}

function reducer(state: FilterState, action: FilterAction): FilterState {
  switch (action.type) {
    case 'setRange':
      return { ...state, range: { from: action.from, to: action.to } }
    case 'toggleSeverity':
      return {
        ...state,
        severities: state.severities.includes(action.severity)
          ? state.severities.filter((s) => s !== action.severity)
          : [...state.severities, action.severity],
      }
    case 'setStation':
      return { ...state, station: action.station }
    case 'setSearch':
      return { ...state, search: action.search }
    case 'reset':
      return initialFilters
  }
}

interface FilterContextValue {
  filters: FilterState
  dispatch: (action: FilterAction) => void
}

const FilterContext = createContext<FilterContextValue | null>(null)

export function FilterProvider({ children }: { children: ReactNode }) {
  const [filters, dispatch] = useReducer(reducer, initialFilters)
  const value = useMemo(() => ({ filters, dispatch }), [filters])
  return <FilterContext.Provider value={value}>{children}</FilterContext.Provider>
}

export function useFilters(): FilterContextValue {
  const value = useContext(FilterContext)
  if (value === null) throw new Error('useFilters outside of FilterProvider')
  return value
}
`

const toolbar = `import { type Severity, useFilters } from '../state/FilterContext'

const ALL: Severity[] = ['info', 'warning', 'critical']

export function Toolbar() {
  const { filters, dispatch } = useFilters()
  return (
    <div className="toolbar" role="toolbar">
      <input
        aria-label="Search alerts"
        value={filters.search}
        onChange={(e) => dispatch({ type: 'setSearch', search: e.target.value })}
      />
      {ALL.map((severity) => (
        <label key={severity}>
          <input
            type="checkbox"
            checked={filters.severities.includes(severity)}
            onChange={() => dispatch({ type: 'toggleSeverity', severity })}
          />
          {severity}
        </label>
      ))}
      <button type="button" onClick={() => dispatch({ type: 'reset' })}>
        Reset
      </button>
    </div>
  )
}
`

const chart = `import moment from 'moment'
import { Line, LineChart, XAxis, YAxis } from 'recharts'
import { useFilters } from '../state/FilterContext'
import type { Sample } from '../api/types'

export function OrbitChart({ samples }: { samples: Sample[] }) {
  const { filters } = useFilters()
  const from = moment(filters.range.from)
  const to = moment(filters.range.to)
  const shown = samples.filter((s) => moment(s.at).isBetween(from, to, undefined, '[]'))
  return (
    <LineChart width={960} height={280} data={shown}>
      <XAxis dataKey="at" tickFormatter={(at) => moment(at).format('DD MMM')} />
      <YAxis unit=" km" />
      <Line dataKey="altitude" dot={false} isAnimationActive={false} />
    </LineChart>
  )
}
`

const alertTable = `import type { Alert } from '../api/types'
import { useFilters } from '../state/FilterContext'

export function AlertTable({ alerts }: { alerts: Alert[] }) {
  const { filters } = useFilters()
  const rows = alerts.filter(
    (a) =>
      filters.severities.includes(a.severity) &&
      (filters.station === null || a.station === filters.station) &&
      a.text.toLowerCase().includes(filters.search.toLowerCase()),
  )
  return (
    <table>
      <tbody>
        {rows.map((a) => (
          <tr key={a.id}>
            <td>{a.severity}</td>
            <td>{a.station}</td>
            <td>{a.text}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
`

const app = `import { AlertTable } from './components/AlertTable'
import { OrbitChart } from './components/OrbitChart'
import { Toolbar } from './components/Toolbar'
import { FilterProvider } from './state/FilterContext'
import { useTelemetry } from './api/useTelemetry'

export function App() {
  const { samples, alerts } = useTelemetry()
  return (
    <FilterProvider>
      <Toolbar />
      <OrbitChart samples={samples} />
      <AlertTable alerts={alerts} />
    </FilterProvider>
  )
}
`

const testFile = `import { fireEvent, render, screen } from '@testing-library/react'
import { expect, test } from 'vitest'
import { AlertTable } from './AlertTable'
import { Toolbar } from './Toolbar'
import { FilterProvider } from '../state/FilterContext'

const alerts = [
  { id: '1', severity: 'info' as const, station: 'Kiruna', text: 'Pass started' },
  { id: '2', severity: 'critical' as const, station: 'Svalbard', text: 'Signal lost' },
]

test('search narrows the table', () => {
  render(
    <FilterProvider>
      <Toolbar />
      <AlertTable alerts={alerts} />
    </FilterProvider>,
  )
  fireEvent.change(screen.getByLabelText('Search alerts'), { target: { value: 'lost' } })
  expect(screen.getAllByRole('row')).toHaveLength(1)
})

test('a severity can be switched off', () => {
  render(
    <FilterProvider>
      <Toolbar />
      <AlertTable alerts={alerts} />
    </FilterProvider>,
  )
  fireEvent.click(screen.getByLabelText('critical'))
  expect(screen.queryByText('Signal lost')).toBeNull()
})
`

const esc = '\u001b'
const green = (text: string) => `${esc}[32m${text}${esc}[39m`
const red = (text: string) => `${esc}[31m${text}${esc}[39m`
const dim = (text: string) => `${esc}[2m${text}${esc}[22m`

function vitestPass(version: string, files: number, tests: number, seconds: string): string {
  return `
${esc}[7m${esc}[1m${esc}[36m RUN ${esc}[39m${esc}[22m${esc}[27m ${esc}[36mv${version}${esc}[39m ${dim('/home/dev/orbit-dashboard')}

 ${green('✓')} src/components/alerts.test.tsx ${dim('(2)')}${files > 1 ? `\n ${green('✓')} src/state/filters.test.ts ${dim(`(${tests - 2})`)}` : ''}

${dim(' Test Files ')} ${green(`${files} passed`)} (${files})
${dim('      Tests ')} ${green(`${tests} passed`)} (${tests})
${dim('   Duration ')} ${seconds}s`
}

const loopOutput = `
${esc}[7m${esc}[1m${esc}[36m RUN ${esc}[39m${esc}[22m${esc}[27m ${esc}[36mv1.6.0${esc}[39m ${dim('/home/dev/orbit-dashboard')}

 ${red('❯')} src/components/alerts.test.tsx ${dim('(2)')}
   ${red('×')} search narrows the table
   ${red('×')} a severity can be switched off
 ${green('✓')} src/state/filters.test.ts ${dim('(5)')}

${red('FAIL')}  src/components/alerts.test.tsx > search narrows the table
${red('Error: Maximum update depth exceeded. This can happen when a component repeatedly calls setState inside componentWillUpdate or componentDidUpdate. React limits the number of nested updates to prevent infinite loops.')}
 ❯ getRootForUpdatedFiber node_modules/react-dom/cjs/react-dom.development.js:27343:11
 ❯ forceStoreRerender node_modules/react-dom/cjs/react-dom.development.js:16948:5
 ❯ updateStoreInstance node_modules/react-dom/cjs/react-dom.development.js:16914:5
 ❯ AlertTable src/components/AlertTable.tsx:5:58

${dim(' Test Files ')} ${red('1 failed')} | ${green('1 passed')} (2)
${dim('      Tests ')} ${red('2 failed')} | ${green('5 passed')} (7)
${dim('   Duration ')} 1.92s`

const storeTs = `import { create } from 'zustand'

export type Severity = 'info' | 'warning' | 'critical'

export interface FilterState {
  range: { from: string; to: string }
  severities: Severity[]
  station: string | null
  search: string
}

interface FilterActions {
  setRange(from: string, to: string): void
  toggleSeverity(severity: Severity): void
  setStation(station: string | null): void
  setSearch(search: string): void
  reset(): void
}

export const initialFilters: FilterState = {
  range: { from: '2024-05-01', to: '2024-05-31' },
  severities: ['info', 'warning', 'critical'],
  station: null,
  search: '',
}

export const useFilterStore = create<FilterState & FilterActions>()((set) => ({
  ...initialFilters,
  setRange: (from, to) => set({ range: { from, to } }),
  toggleSeverity: (severity) =>
    set((state) => ({
      severities: state.severities.includes(severity)
        ? state.severities.filter((s) => s !== severity)
        : [...state.severities, severity],
    })),
  setStation: (station) => set({ station }),
  setSearch: (search) => set({ search }),
  reset: () => set(initialFilters),
}))
`

const storeTest = `import { beforeEach, expect, test } from 'vitest'
import { initialFilters, useFilterStore } from './filters'

const store = useFilterStore

beforeEach(() => store.setState(initialFilters))

test('starts with every severity', () => {
  expect(store.getState().severities).toHaveLength(3)
})

test('toggleSeverity removes and adds', () => {
  store.getState().toggleSeverity('info')
  expect(store.getState().severities).toEqual(['warning', 'critical'])
  store.getState().toggleSeverity('info')
  expect(store.getState().severities).toContain('info')
})

test('setStation', () => {
  store.getState().setStation('Kiruna')
  expect(store.getState().station).toBe('Kiruna')
})

test('setRange', () => {
  store.getState().setRange('2024-01-01', '2024-01-31')
  expect(store.getState().range.to).toBe('2024-01-31')
})

test('reset', () => {
  store.getState().setSearch('lost')
  store.getState().reset()
  expect(store.getState().search).toBe('')
})
`

export default async function (r: Recorder): Promise<void> {
  startProject(
    r,
    {
      'package.json': packageJson,
      'src/App.tsx': app,
      'src/api/types.ts': `import type { Severity } from '../state/FilterContext'\n\nexport interface Sample {\n  at: string\n  altitude: number\n}\n\nexport interface Alert {\n  id: string\n  severity: Severity\n  station: string\n  text: string\n}\n`,
      'src/api/useTelemetry.ts': `import { useEffect, useState } from 'react'\nimport type { Alert, Sample } from './types'\n\nexport function useTelemetry() {\n  const [data, setData] = useState<{ samples: Sample[]; alerts: Alert[] }>({ samples: [], alerts: [] })\n  useEffect(() => {\n    void fetch('/api/telemetry')\n      .then((response) => response.json())\n      .then(setData)\n  }, [])\n  return data\n}\n`,
      'src/components/AlertTable.tsx': alertTable,
      'src/components/OrbitChart.tsx': chart,
      'src/components/Toolbar.tsx': toolbar,
      'src/components/alerts.test.tsx': testFile,
      'src/state/FilterContext.tsx': filterContext,
      'vite.config.ts': `import react from '@vitejs/plugin-react'\nimport { defineConfig } from 'vite'\n\nexport default defineConfig({\n  plugins: [react()],\n  server: { port: 5174, proxy: { '/api': 'http://localhost:9040' } },\n})\n`,
    },
    {
      author: 'Priya Raman',
      commits: ['Orbit dashboard 2.6', 'Alerts: severity filter', 'Bump version to 2.7.0'],
    },
  )

  r.prompt(
    'Typing in the alert search is laggy since we have the altitude chart: every key stroke re-renders OrbitChart with 20k samples. Please get the filters out of React context. Use zustand and not redux toolkit: we have one small piece of shared state and I do not want slices and a provider for that.',
  )
  await r.glob('src/**/*.{ts,tsx}')
  await r.read('package.json')
  await r.read('src/state/FilterContext.tsx')
  await r.grep('useFilters', { path: 'src', output_mode: 'content', '-n': true })
  await r.read('src/components/OrbitChart.tsx')
  await r.read('src/components/Toolbar.tsx')
  await r.read('src/components/AlertTable.tsx')
  await r.read('src/App.tsx')
  await r.bash('npx vitest run', { description: 'Run tests', stdoutOverride: vitestPass('1.6.0', 1, 2, '1.41') })
  r.todo([
    { content: 'Install zustand', status: 'in_progress' },
    { content: 'Filter store with tests', status: 'pending' },
    { content: 'Move the three components', status: 'pending' },
    { content: 'Remove FilterContext', status: 'pending' },
  ])
  await r.bash('npm install zustand', {
    description: 'Install zustand',
    stdoutOverride:
      '\nadded 1 package, and audited 312 packages in 2s\n\n61 packages are looking for funding\n\nfound 0 vulnerabilities',
  })
  await r.edit('package.json', '    "recharts": "2.12.7"\n', '    "recharts": "2.12.7",\n    "zustand": "^5.0.2"\n')
  await r.bash('npm ls zustand', {
    description: 'Check the version',
    stdoutOverride: 'orbit-dashboard@2.7.0 /home/dev/orbit-dashboard\n└── zustand@5.0.2\n',
  })
  await r.write('src/state/filters.ts', storeTs)
  await r.write('src/state/filters.test.ts', storeTest)
  await r.bash('npx vitest run src/state', {
    description: 'Run store tests',
    stdoutOverride: `\n ${green('✓')} src/state/filters.test.ts ${dim('(5)')}\n\n${dim(' Test Files ')} ${green('1 passed')} (1)\n${dim('      Tests ')} ${green('5 passed')} (5)\n${dim('   Duration ')} 0.61s`,
  })
  await r.multiEdit('src/components/Toolbar.tsx', [
    {
      old_string: "import { type Severity, useFilters } from '../state/FilterContext'",
      new_string: "import { type Severity, useFilterStore } from '../state/filters'",
    },
    {
      old_string: '  const { filters, dispatch } = useFilters()\n',
      new_string: `  const search = useFilterStore((s) => s.search)
  const severities = useFilterStore((s) => s.severities)
  const setSearch = useFilterStore((s) => s.setSearch)
  const toggleSeverity = useFilterStore((s) => s.toggleSeverity)
  const reset = useFilterStore((s) => s.reset)
`,
    },
    { old_string: 'value={filters.search}', new_string: 'value={search}' },
    {
      old_string: "onChange={(e) => dispatch({ type: 'setSearch', search: e.target.value })}",
      new_string: 'onChange={(e) => setSearch(e.target.value)}',
    },
    { old_string: 'filters.severities.includes', new_string: 'severities.includes' },
    {
      old_string: "onChange={() => dispatch({ type: 'toggleSeverity', severity })}",
      new_string: 'onChange={() => toggleSeverity(severity)}',
    },
    { old_string: "onClick={() => dispatch({ type: 'reset' })}", new_string: 'onClick={reset}' },
  ])
  await r.multiEdit('src/components/OrbitChart.tsx', [
    {
      old_string: "import { useFilters } from '../state/FilterContext'",
      new_string: "import { useFilterStore } from '../state/filters'",
    },
    {
      old_string: '  const { filters } = useFilters()\n',
      new_string: '  const range = useFilterStore((s) => s.range)\n',
    },
    { old_string: 'filters.range.from', new_string: 'range.from' },
    { old_string: 'filters.range.to', new_string: 'range.to' },
  ])
  await r.multiEdit('src/components/AlertTable.tsx', [
    {
      old_string: "import { useFilters } from '../state/FilterContext'",
      new_string: "import { useFilterStore } from '../state/filters'",
    },
    {
      old_string: '  const { filters } = useFilters()\n',
      new_string:
        '  const filters = useFilterStore((s) => ({ severities: s.severities, station: s.station, search: s.search }))\n',
    },
  ])
  await r.multiEdit('src/components/alerts.test.tsx', [
    {
      old_string: "import { FilterProvider } from '../state/FilterContext'\n",
      new_string: "import { initialFilters, useFilterStore } from '../state/filters'\n",
    },
    { old_string: '<FilterProvider>', new_string: '<>', replace_all: true },
    { old_string: '</FilterProvider>', new_string: '</>', replace_all: true },
    {
      old_string: "import { expect, test } from 'vitest'",
      new_string: "import { beforeEach, expect, test } from 'vitest'",
    },
    {
      old_string: "test('search narrows",
      new_string: "beforeEach(() => useFilterStore.setState(initialFilters))\n\ntest('search narrows",
    },
  ])
  await r.bash('npx vitest run', { description: 'Run tests', stdoutOverride: loopOutput, exitCode: 1 })
  r.webFetch(
    'https://zustand.docs.pmnd.rs/migrations/migrating-to-v5',
    'Why does a selector that returns a new object loop in zustand 5?',
    'In v5 the selector output must be referentially stable, matching React useSyncExternalStore. A selector that returns a new reference on every call may cause infinite loops ("Maximum update depth exceeded"). Use the useShallow hook from zustand/react/shallow to keep the reference stable. v4 used use-sync-external-store/with-selector and tolerated it.',
  )
  await r.multiEdit('src/components/AlertTable.tsx', [
    {
      old_string: "import type { Alert } from '../api/types'",
      new_string: "import { useShallow } from 'zustand/react/shallow'\nimport type { Alert } from '../api/types'",
    },
    {
      old_string: 'useFilterStore((s) => ({ severities: s.severities, station: s.station, search: s.search }))',
      new_string:
        'useFilterStore(\n    useShallow((s) => ({ severities: s.severities, station: s.station, search: s.search })),\n  )',
    },
  ])
  await r.bash('npx vitest run', { description: 'Run tests', stdoutOverride: vitestPass('1.6.0', 2, 7, '1.58') })
  await r.edit('src/App.tsx', "import { FilterProvider } from './state/FilterContext'\n", '')
  await r.edit('src/App.tsx', '<FilterProvider>', '<>')
  await r.edit('src/App.tsx', '</FilterProvider>', '</>')
  await r.bash('git rm -q src/state/FilterContext.tsx && ls src/state', { description: 'Remove the context' })
  await r.bash('npm run build', {
    description: 'Type-check and build',
    stdoutOverride: `
> orbit-dashboard@2.7.0 build
> tsc -b && vite build

${esc}[96msrc/api/types.ts${esc}[0m:${esc}[93m1${esc}[0m:${esc}[93m31${esc}[0m - ${esc}[91merror${esc}[0m${esc}[90m TS2307: ${esc}[0mCannot find module '../state/FilterContext' or its corresponding type declarations.

${esc}[7m1${esc}[0m import type { Severity } from '../state/FilterContext'
${esc}[7m ${esc}[0m ${esc}[91m                              ~~~~~~~~~~~~~~~~~~~~~~~~~${esc}[0m

Found 1 error in src/api/types.ts${esc}[90m:1${esc}[0m
`,
    exitCode: 2,
  })
  await r.edit('src/api/types.ts', "'../state/FilterContext'", "'../state/filters'")
  await r.bash('npm run build', {
    description: 'Type-check and build',
    stdoutOverride: `
> orbit-dashboard@2.7.0 build
> tsc -b && vite build

${esc}[36mvite v5.2.11 ${green('building for production...')}${esc}[36m${esc}[39m
transforming...
${green('✓')} 1184 modules transformed.
rendering chunks...
computing gzip size...
${dim('dist/')}index.html                  0.46 kB │ gzip:   0.30 kB
${dim('dist/')}assets/index-B9x2mQfT.js  861.27 kB │ gzip: 264.90 kB
${green('✓ built in 6.03s')}
${esc}[33m
(!) Some chunks are larger than 500 kB after minification.${esc}[39m`,
  })
  await r.bash(
    `git add -A && git commit -F - <<'MSG'
Move filters from React context to a zustand store

Every key stroke in the search re-rendered OrbitChart because all consumers of
FilterContext share one value. Components now select only what they use.
zustand instead of redux toolkit: one small shared state, no slices, no provider.
MSG`,
    { description: 'Commit' },
  )
  r.end(
    'Filters live in `useFilterStore` (`src/state/filters.ts`), `FilterContext` is gone. `OrbitChart` selects only `range`, so typing no longer renders it. In zustand 5.0.2 the object selector in `AlertTable` looped ("Maximum update depth exceeded") until it was wrapped in `useShallow`. 7 tests pass, build is fine.',
  )

  r.prompt('Much better! The bundle warning: 861 kB is silly for this page. What is in there?')
  await r.bash('npx vite-bundle-visualizer -t raw-data -o /tmp/stats.json && node scripts/top.mjs /tmp/stats.json', {
    description: 'Largest modules in the bundle',
    stdoutOverride: `node_modules/recharts        312.4 kB
node_modules/moment          291.8 kB  (of that locale/*: 232.1 kB)
node_modules/react-dom       130.6 kB
node_modules/lodash           71.2 kB  (via recharts)
src                           18.9 kB
node_modules/date-fns          0.0 kB  (not imported)`,
  })
  await r.grep("from 'moment'|from 'date-fns'", { path: 'src', output_mode: 'content', '-n': true })
  await r.bash('npm view date-fns version', { description: 'Newest date-fns', stdoutOverride: '3.6.0' })
  r.end(
    'moment is one third of the bundle for three calls in OrbitChart, most of it locales; date-fns is installed but never imported. recharts is the other big one.',
  )
  r.prompt('ok kick moment out, date-fns it is')
  await r.multiEdit('src/components/OrbitChart.tsx', [
    {
      old_string: "import moment from 'moment'\n",
      new_string: "import { format, isWithinInterval, parseISO } from 'date-fns'\nimport { useMemo } from 'react'\n",
    },
    {
      old_string: `  const from = moment(range.from)
  const to = moment(range.to)
  const shown = samples.filter((s) => moment(s.at).isBetween(from, to, undefined, '[]'))
`,
      new_string: `  const shown = useMemo(() => {
    const interval = { start: parseISO(range.from), end: parseISO(range.to) }
    return samples.filter((s) => isWithinInterval(parseISO(s.at), interval))
  }, [samples, range])
`,
    },
    { old_string: "moment(at).format('DD MMM')", new_string: "format(parseISO(at), 'dd MMM')" },
  ])
  await r.bash('npm uninstall moment && npm install date-fns@3.6.0', {
    description: 'Swap the date library',
    stdoutOverride:
      '\nremoved 1 package, and audited 311 packages in 1s\n\nchanged 1 package, and audited 311 packages in 2s\n\nfound 0 vulnerabilities',
  })
  await r.edit('package.json', '    "date-fns": "2.30.0",\n    "moment": "2.29.4",\n', '    "date-fns": "3.6.0",\n')
  await r.bash('npx vitest run && npm run build 2>&1 | tail -8', {
    description: 'Test and build',
    stdoutOverride: `${vitestPass('1.6.0', 2, 7, '1.49')}
${green('✓')} 871 modules transformed.
${dim('dist/')}index.html                  0.46 kB │ gzip:   0.30 kB
${dim('dist/')}assets/index-Ck71pXwa.js  573.61 kB │ gzip: 183.37 kB
${green('✓ built in 4.11s')}`,
  })
  await r.bash('git commit -am "Replace moment with date-fns 3.6.0: bundle 861 kB to 574 kB"', {
    description: 'Commit',
  })
  r.end('moment is gone; the bundle went from 861 kB to 574 kB (gzip 265 to 183 kB). The rest is mostly recharts.')

  r.prompt('Can we go to vite 6 in the same go? We are stuck on 5.2 and security keeps nagging about esbuild.')
  r.webSearch('vite 6 migration breaking changes vitest compatibility', [
    {
      title: 'Migration from v5 | Vite',
      url: 'https://v6.vite.dev/guide/migration',
      snippet:
        'Node.js 18, 20, and 22+ supported. resolve.conditions default changed, Sass uses modern API by default.',
    },
    {
      title: 'Vitest 2.1 release notes',
      url: 'https://vitest.dev/blog',
      snippet: 'Vitest 2.1.8 supports Vite 5 and Vite 6; Vitest 1.x requires Vite 5.',
    },
  ])
  await r.bash('npm install -D vite@6.0.7', {
    description: 'Upgrade vite',
    stdoutOverride: `npm error code ERESOLVE
npm error ERESOLVE could not resolve
npm error
npm error While resolving: vitest@1.6.0
npm error Found: vite@6.0.7
npm error Could not resolve dependency:
npm error peer vite@"^5.0.0" from vitest@1.6.0
npm error
npm error Fix the upstream dependency conflict, or retry this command with --force or --legacy-peer-deps`,
    exitCode: 1,
  })
  r.say('vitest 1.6.0 pins vite 5, so both have to move together. No --legacy-peer-deps.')
  await r.bash('npm install -D vite@6.0.7 vitest@2.1.8 @vitejs/plugin-react@4.3.4', {
    description: 'Upgrade vite, vitest and the plugin',
    stdoutOverride:
      '\nadded 9 packages, removed 4 packages, changed 31 packages, and audited 316 packages in 7s\n\nfound 0 vulnerabilities',
  })
  await r.multiEdit('package.json', [
    { old_string: '"@vitejs/plugin-react": "4.2.1"', new_string: '"@vitejs/plugin-react": "4.3.4"' },
    { old_string: '"vite": "5.2.11"', new_string: '"vite": "6.0.7"' },
    { old_string: '"vitest": "1.6.0"', new_string: '"vitest": "2.1.8"' },
  ])
  await r.bash('npx vitest run', { description: 'Run tests', stdoutOverride: vitestPass('2.1.8', 2, 7, '1.33') })
  await r.bash('npm run dev', {
    description: 'Start the dev server',
    stdoutOverride: `
  ${green('VITE v6.0.7')}  ready in 412 ms

  ${green('➜')}  Local:   http://localhost:5174/
  ${green('➜')}  Network: use --host to expose`,
    background: true,
  })
  await r.bash('curl -si http://localhost:5174/api/telemetry | head -3', {
    description: 'Try the proxy',
    stdoutOverride: 'HTTP/1.1 500 Internal Server Error\nVary: Origin\nContent-Type: text/plain',
  })
  await r.bash('curl -s -o /dev/null -w "%{http_code}\\n" http://localhost:9040/health', {
    description: 'Is the backend up?',
    stdoutOverride: '000',
    exitCode: 7,
  })
  r.say('That is only the telemetry backend on port 9040 that does not run here, not vite.')
  await r.bash('npm audit', { description: 'Audit', stdoutOverride: 'found 0 vulnerabilities' })
  await r.bash('git commit -am "Upgrade to vite 6.0.7 and vitest 2.1.8 together" && git status --short', {
    description: 'Commit',
  })
  r.end(
    'On vite 6.0.7. It had to go together with vitest 2.1.8, because vitest 1.6.0 has a peer dependency on vite 5 (ERESOLVE). The dev server still listens on port 5174 and proxies /api to 9040. Open: split recharts into a lazy chunk to get below 500 kB.',
  )
}

export const facts: { ask: string; expect: string[] }[] = [
  { ask: 'Why zustand and not redux toolkit?', expect: ['zustand', 'redux', 'provider'] },
  { ask: 'Why was typing in the search slow?', expect: ['OrbitChart', 'render'] },
  { ask: 'What fixed the endless updates in AlertTable?', expect: ['Maximum update depth exceeded', 'useShallow'] },
  { ask: 'Where does the filter state live now?', expect: ['useFilterStore', 'src/state/filters.ts'] },
  { ask: 'Which type error broke the build after FilterContext was removed?', expect: ['TS2307', 'FilterContext'] },
  { ask: 'By how much did the bundle shrink without moment?', expect: ['moment', '861', '574'] },
  { ask: 'Which date library in which version is used?', expect: ['date-fns', '3.6.0'] },
  { ask: 'Why could vite not be upgraded alone?', expect: ['ERESOLVE', 'vitest', 'peer'] },
  { ask: 'Which versions of vite and vitest are in use?', expect: ['6.0.7', '2.1.8'] },
  { ask: 'On which port is the dev server?', expect: ['5174'] },
]
