/** SQL and configuration: a column for tenants in three steps, a lock that stalls staging, a pool that is too large. */
import { accessLog, changelog, schemaDump } from '../../material.ts'
import type { Recorder } from '../../recorder.ts'
import type { Fact } from '../../scenario.ts'

export const project = 'parcel-hub'

export const facts: Fact[] = [
  { ask: 'Which column was added to shipments?', expect: ['tenant_id', 'shipments'] },
  { ask: 'Why was the migration split in three?', expect: ['lock', 'NOT NULL'] },
  { ask: 'What happened when the migration ran on staging first?', expect: ['lock timeout', 'shipments'] },
  { ask: 'How many rows were backfilled?', expect: ['1284311'] },
  { ask: 'How large are the batches of the backfill?', expect: ['5000'] },
  { ask: 'Why is the index built concurrently?', expect: ['CONCURRENTLY', 'transaction'] },
  { ask: 'What was the cause of "too many clients"?', expect: ['max_connections', '100'] },
  { ask: 'What is the pool size per pod now?', expect: ['pool', '15'] },
  { ask: 'Which version of PostgreSQL runs on staging?', expect: ['16.4'] },
  { ask: 'What must still be done before production?', expect: ['row-level security'] },
]

const PSQL = 'psql "$STAGING_URL" -v ON_ERROR_STOP=1'

export default async function (r: Recorder): Promise<void> {
  r.files({
    'migrations/0001_initial.sql':
      'CREATE TABLE tenants (\n  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,\n  slug text NOT NULL UNIQUE\n);\n\nCREATE TABLE shipments (\n  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,\n  reference text NOT NULL,\n  customer_id bigint NOT NULL,\n  created_at timestamptz NOT NULL DEFAULT now()\n);\n',
    'migrations/0002_customers.sql':
      'CREATE TABLE customers (\n  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,\n  tenant_id bigint NOT NULL REFERENCES tenants (id),\n  name text NOT NULL\n);\n\nALTER TABLE shipments ADD FOREIGN KEY (customer_id) REFERENCES customers (id);\n',
    'migrations/README.md':
      'Numbered, append-only. `dbmate up` runs what is missing, each file in one transaction unless it says `transaction:false`.\n',
    'config/staging.yaml':
      'database:\n  host: pg-staging.internal\n  port: 5432\n  name: parcels\n  pool: 40\n  statement_timeout_ms: 15000\nreplicas: 4\nlog_level: info\n',
    'config/production.yaml':
      'database:\n  host: pg-prod.internal\n  port: 5432\n  name: parcels\n  pool: 40\n  statement_timeout_ms: 15000\nreplicas: 6\nlog_level: warn\n',
    'deploy/deployment.yaml':
      'apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: parcel-hub\nspec:\n  replicas: 4\n  template:\n    spec:\n      containers:\n        - name: api\n          image: registry.example.com/parcel-hub:2.9.0\n          ports:\n            - containerPort: 9090\n',
    'db/structure.sql': schemaDump(26),
    'CHANGELOG.md': changelog(22),
    'queries/list_shipments.sql':
      '-- name: list_shipments\nSELECT s.id, s.reference, s.created_at\nFROM shipments s\nJOIN customers c ON c.id = s.customer_id\nWHERE c.tenant_id = $1\nORDER BY s.created_at DESC\nLIMIT 50;\n',
  })
  r.shell('git init -q && git add -A && git commit -qm "parcel-hub 2.9.0"')

  r.prompt(
    'list_shipments is slow for large tenants because it joins customers only to find the tenant. Put tenant_id on shipments itself, backfill it, and use it in the query. Staging first, then a PR. Careful: shipments has more than a million rows and must stay writable.',
  )
  await r.glob('migrations/*.sql')
  await r.read('migrations/0001_initial.sql')
  await r.read('migrations/0002_customers.sql')
  await r.read('migrations/README.md')
  await r.read('queries/list_shipments.sql')
  await r.read('db/structure.sql')
  await r.read('CHANGELOG.md')
  await r.bash(`${PSQL} -c "select version(), (select count(*) from shipments)"`, {
    description: 'Version and size',
    stdoutOverride:
      '                       version                        |  count  \n------------------------------------------------------+---------\n PostgreSQL 16.4 on x86_64-pc-linux-gnu, compiled by gcc | 1284311\n(1 row)',
  })
  await r.bash(
    `${PSQL} -c "explain (analyze, buffers) select s.id from shipments s join customers c on c.id = s.customer_id where c.tenant_id = 7 order by s.created_at desc limit 50"`,
    {
      description: 'Explain the slow query',
      stdoutOverride:
        ' Limit  (cost=48211.07..48216.90 rows=50 width=16) (actual time=1843.221..1843.402 rows=50 loops=1)\n   ->  Gather Merge  (actual time=1843.219..1843.391 rows=50 loops=1)\n         ->  Sort  (actual time=1836.100..1836.112 rows=50 loops=3)\n               ->  Parallel Hash Join  (actual time=22.114..1701.905 rows=214052 loops=3)\n                     ->  Parallel Seq Scan on shipments s\n Execution Time: 1843.512 ms',
    },
  )
  await r.write(
    'migrations/0003_shipment_tenant.sql',
    'ALTER TABLE shipments ADD COLUMN tenant_id bigint NOT NULL REFERENCES tenants (id) DEFAULT 0;\n\nUPDATE shipments s SET tenant_id = c.tenant_id FROM customers c WHERE c.id = s.customer_id;\n\nCREATE INDEX shipments_tenant_created ON shipments (tenant_id, created_at DESC);\n',
  )
  await r.bash('dbmate --url "$STAGING_URL" up', {
    description: 'Migrate staging',
    exitCode: 1,
    stdoutOverride:
      'Applying: 0003_shipment_tenant.sql\nError: pq: canceling statement due to lock timeout\nCONTEXT: while locking relation "shipments"',
  })
  await r.bash(
    `${PSQL} -c "select pid, wait_event_type, left(query, 60) from pg_stat_activity where state <> 'idle'"`,
    {
      description: 'Who holds the lock?',
      stdoutOverride:
        '  pid  | wait_event_type |                            left                             \n-------+-----------------+-------------------------------------------------------------\n 21877 | Lock            | ALTER TABLE shipments ADD COLUMN tenant_id bigint NOT NULL RE\n 21540 | Client          | INSERT INTO shipments (reference, customer_id) VALUES ($1, $2\n(2 rows)',
    },
  )
  r.say(
    'One big migration holds an exclusive lock on shipments while it rewrites everything. It has to be three: a nullable column, a backfill in batches, then the constraint and the index.',
  )
  r.todo([
    { content: '0003 nullable column', status: 'in_progress' },
    { content: '0004 backfill in batches', status: 'pending' },
    { content: '0005 NOT NULL and index', status: 'pending' },
  ])
  await r.write(
    'migrations/0003_shipment_tenant.sql',
    "-- A nullable column without a default is only a change in the catalogue.\nSET lock_timeout = '3s';\nALTER TABLE shipments ADD COLUMN tenant_id bigint;\nALTER TABLE shipments ADD CONSTRAINT shipments_tenant_fk FOREIGN KEY (tenant_id) REFERENCES tenants (id) NOT VALID;\n",
  )
  await r.write(
    'migrations/0004_backfill_shipment_tenant.sql',
    '-- dbmate transaction:false\nDO $$\nDECLARE\n  batch constant int := 5000;\n  done int;\nBEGIN\n  LOOP\n    UPDATE shipments s SET tenant_id = c.tenant_id\n    FROM customers c\n    WHERE c.id = s.customer_id AND s.id IN (SELECT id FROM shipments WHERE tenant_id IS NULL ORDER BY id LIMIT batch);\n    GET DIAGNOSTICS done = ROW_COUNT;\n    EXIT WHEN done = 0;\n    COMMIT;\n  END LOOP;\nEND $$;\n',
  )
  await r.write(
    'migrations/0005_shipment_tenant_constraint.sql',
    '-- dbmate transaction:true\nALTER TABLE shipments VALIDATE CONSTRAINT shipments_tenant_fk;\nALTER TABLE shipments ADD CONSTRAINT shipments_tenant_set CHECK (tenant_id IS NOT NULL) NOT VALID;\nALTER TABLE shipments VALIDATE CONSTRAINT shipments_tenant_set;\nALTER TABLE shipments ALTER COLUMN tenant_id SET NOT NULL;\nCREATE INDEX CONCURRENTLY shipments_tenant_created ON shipments (tenant_id, created_at DESC);\n',
  )
  await r.bash('dbmate --url "$STAGING_URL" up', {
    description: 'Migrate staging',
    exitCode: 1,
    stdoutOverride:
      'Applying: 0003_shipment_tenant.sql\nApplied: 0003_shipment_tenant.sql in 41ms\nApplying: 0004_backfill_shipment_tenant.sql\nApplied: 0004_backfill_shipment_tenant.sql in 1m52.3s\nApplying: 0005_shipment_tenant_constraint.sql\nError: pq: CREATE INDEX CONCURRENTLY cannot run inside a transaction block',
  })
  await r.edit(
    'migrations/0005_shipment_tenant_constraint.sql',
    '-- dbmate transaction:true',
    '-- dbmate transaction:false',
  )
  await r.bash('dbmate --url "$STAGING_URL" up', {
    description: 'Migrate staging',
    stdoutOverride:
      'Applying: 0005_shipment_tenant_constraint.sql\nApplied: 0005_shipment_tenant_constraint.sql in 8.4s',
  })
  await r.bash(`${PSQL} -c "select count(*) filter (where tenant_id is null) as missing, count(*) from shipments"`, {
    description: 'Is anything missing?',
    stdoutOverride: ' missing |  count  \n---------+---------\n       0 | 1284311\n(1 row)',
  })
  await r.edit(
    'queries/list_shipments.sql',
    'FROM shipments s\nJOIN customers c ON c.id = s.customer_id\nWHERE c.tenant_id = $1',
    'FROM shipments s\nWHERE s.tenant_id = $1',
  )
  await r.bash(
    `${PSQL} -c "explain analyze select s.id from shipments s where s.tenant_id = 7 order by s.created_at desc limit 50"`,
    {
      description: 'Explain the new query',
      stdoutOverride:
        ' Limit  (actual time=0.041..0.212 rows=50 loops=1)\n   ->  Index Scan using shipments_tenant_created on shipments s  (actual time=0.039..0.201 rows=50 loops=1)\n Execution Time: 0.244 ms',
    },
  )
  await r.bash('git status --short', { description: 'What changed' })
  await r.bash(
    'git checkout -q -b tenant-on-shipments && git add -A && git commit -q -m "Put tenant_id on shipments" -m "In three migrations, because NOT NULL with a backfill in one held an exclusive lock on shipments. 1284311 rows in batches of 5000. The index is built CONCURRENTLY, which cannot be in a transaction." && git log --oneline | head -2',
    { description: 'Commit' },
  )
  await r.bash('gh pr create --fill', {
    description: 'Open the PR',
    stdoutOverride: 'https://github.com/parcel-hub/parcel-hub/pull/418',
  })
  r.end('Staging is migrated and the query went from 1,843 ms to 0.2 ms. PR 418 is open.')

  r.prompt('Staging throws "sorry, too many clients already" since the deploy, every few minutes. Look into it please.')
  await r.bash('kubectl -n staging logs deploy/parcel-hub --since=30m | grep -c "too many clients"', {
    description: 'How often?',
    stdoutOverride: '37',
  })
  await r.bash('kubectl -n staging get pods', {
    description: 'Pods',
    stdoutOverride:
      'NAME                          READY   STATUS    RESTARTS   AGE\nparcel-hub-6c9f7d8b5d-4kq2v   1/1     Running   0          3h\nparcel-hub-6c9f7d8b5d-8xwzt   1/1     Running   2          3h\nparcel-hub-6c9f7d8b5d-nv5lp   1/1     Running   0          3h\nparcel-hub-6c9f7d8b5d-zz7hd   1/1     Running   1          3h',
  })
  await r.read('config/staging.yaml')
  await r.read('deploy/deployment.yaml')
  await r.bash('kubectl -n staging logs deploy/parcel-hub --since=30m | tail -120', {
    description: 'Recent logs',
    stdoutOverride: accessLog(120),
  })
  await r.read('db/structure.sql', { offset: 100, limit: 120 })
  await r.bash(`${PSQL} -c "show max_connections"`, {
    description: 'How many may connect?',
    exitCode: 2,
    stdoutOverride:
      'psql: error: connection to server at "pg-staging.internal" (10.4.0.12), port 5432 failed: FATAL:  sorry, too many clients already',
  })
  await r.bash(`${PSQL} -c "show max_connections"`, {
    description: 'Again',
    stdoutOverride: ' max_connections \n-----------------\n 100\n(1 row)',
  })
  await r.grep('pool:', { output_mode: 'content', '-n': true, path: 'config' })
  r.say(
    '4 pods with a pool of 40 want 160 connections, max_connections is 100. A rolling deploy even doubles that for a moment.',
  )
  await r.edit('config/staging.yaml', '  pool: 40', '  pool: 15')
  await r.edit('config/production.yaml', '  pool: 40', '  pool: 15')
  await r.bash(
    'git add -A && git commit -q -m "Size the connection pool: 15 per pod" -m "4 pods x 40 exceeded max_connections 100 on staging; production (6 pods) was next. We lower the pool instead of raising max_connections because each backend costs about 10 MB."',
    { description: 'Commit' },
  )
  await r.bash('git push', {
    description: 'Push',
    stdoutOverride:
      'To github.com:parcel-hub/parcel-hub.git\n   5f1c0d2..9b7e4aa  tenant-on-shipments -> tenant-on-shipments',
  })
  await r.bash(
    'kubectl -n staging rollout restart deploy/parcel-hub && kubectl -n staging rollout status deploy/parcel-hub',
    {
      description: 'Restart',
      stdoutOverride:
        'deployment.apps/parcel-hub restarted\nWaiting for deployment "parcel-hub" rollout to finish: 2 out of 4 new replicas have been updated...\ndeployment "parcel-hub" successfully rolled out',
    },
  )
  await r.bash('sleep 1; kubectl -n staging logs deploy/parcel-hub --since=5m | grep -c "too many clients" || true', {
    description: 'Gone?',
    stdoutOverride: '0',
  })
  r.end(
    'The errors are gone: the pool is 15 per pod now, on production too. Before this goes to production the row-level security policies should use the new column; I have not touched them.',
  )
}
