import type { Recorder } from '../../recorder.ts'
import { startProject } from './lib/project.ts'

export const project = 'greenhouse'
export const client = '2.0.37'

/** Ruby on Rails with an older client: an export that eats memory, an N+1, a job that runs twice. Ruby is played. */

const exportJob = `class SensorExportJob < ApplicationJob
  queue_as :default
  retry_on StandardError, attempts: 5

  def perform(export_id)
    export = Export.find(export_id)
    rows = export.house.readings.where(taken_at: export.range).to_a
    csv = CSV.generate do |out|
      out << %w[taken_at bed sensor value]
      rows.each do |reading|
        out << [reading.taken_at.iso8601, reading.sensor.bed.name, reading.sensor.label, reading.value]
      end
    end
    export.file.attach(io: StringIO.new(csv), filename: "#{export.house.slug}.csv")
    export.update!(state: "done", rows_count: rows.size)
    ExportMailer.ready(export).deliver_now
  end
end
`

const exportModel = `class Export < ApplicationRecord
  belongs_to :house
  belongs_to :user
  has_one_attached :file

  STATES = %w[queued running done failed].freeze
  validates :state, inclusion: { in: STATES }

  after_save :enqueue, if: -> { state == "queued" }

  def range
    from..to
  end

  private

  def enqueue
    SensorExportJob.perform_later(id)
  end
end
`

const jobTest = `require "test_helper"

class SensorExportJobTest < ActiveJob::TestCase
  setup do
    @export = exports(:north_march)
  end

  test "writes one line per reading" do
    SensorExportJob.perform_now(@export.id)
    assert_equal @export.house.readings.where(taken_at: @export.range).count + 1, @export.reload.file.download.lines.size
  end

  test "marks the export as done" do
    SensorExportJob.perform_now(@export.id)
    assert_equal "done", @export.reload.state
  end
end
`

const controller = `class ExportsController < ApplicationController
  def create
    export = Current.user.exports.create!(export_params.merge(state: "queued"))
    redirect_to export
  end

  def show
    @export = Current.user.exports.find(params[:id])
  end

  private

  def export_params
    params.require(:export).permit(:house_id, :from, :to)
  end
end
`

const schema = `ActiveRecord::Schema[7.1].define(version: 2024_04_02_081500) do
  create_table "exports", force: :cascade do |t|
    t.bigint "house_id", null: false
    t.bigint "user_id", null: false
    t.datetime "from", null: false
    t.datetime "to", null: false
    t.string "state", default: "queued", null: false
    t.integer "rows_count"
    t.timestamps
  end

  create_table "readings", force: :cascade do |t|
    t.bigint "sensor_id", null: false
    t.datetime "taken_at", null: false
    t.float "value", null: false
    t.index ["sensor_id"], name: "index_readings_on_sensor_id"
  end

  create_table "sensors", force: :cascade do |t|
    t.bigint "bed_id", null: false
    t.string "label", null: false
  end
end
`

const rails = (
  runs: number,
  asserts: number,
  rest: string,
  seconds: string,
  extra = '',
) => `Running ${runs} tests in a single process (parallelization threshold is 50)
Run options: --seed 41273

# Running:
${extra}
Finished in ${seconds}s, ${(runs / Number(seconds)).toFixed(4)} runs/s.
${runs} runs, ${asserts} assertions, ${rest}`

export default async function (r: Recorder): Promise<void> {
  startProject(
    r,
    {
      'app/jobs/sensor_export_job.rb': exportJob,
      'app/models/export.rb': exportModel,
      'app/models/reading.rb': 'class Reading < ApplicationRecord\n  belongs_to :sensor\nend\n',
      'app/models/sensor.rb': 'class Sensor < ApplicationRecord\n  belongs_to :bed\n  has_many :readings\nend\n',
      'app/models/house.rb':
        'class House < ApplicationRecord\n  has_many :beds\n  has_many :sensors, through: :beds\n  has_many :readings, through: :sensors\nend\n',
      'app/controllers/exports_controller.rb': controller,
      'config/sidekiq.yml': ':concurrency: 10\n:queues:\n  - default\n  - mailers\n',
      'db/schema.rb': schema,
      'test/jobs/sensor_export_job_test.rb': jobTest,
      Gemfile:
        'source "https://rubygems.org"\n\nruby "3.2.4"\n\ngem "rails", "7.1.3"\ngem "pg", "1.5.6"\ngem "sidekiq", "7.2.2"\ngem "redis", "5.2.0"\n',
    },
    { author: 'Noor Haddad', commits: ['Sensor readings', 'CSV export', 'Mail when the export is ready'] },
  )

  r.prompt(
    'Exports of a whole month kill the sidekiq pod (OOMKilled, limit 1Gi). 2.6 million readings for the big house. And people report that they get the mail twice. Memory first.',
  )
  await r.bash('git log --oneline && ls app/jobs app/models', { description: 'Look around' })
  await r.read('app/jobs/sensor_export_job.rb')
  await r.read('app/models/export.rb')
  await r.read('db/schema.rb')
  await r.grep('SensorExportJob', { output_mode: 'content', '-n': true })
  await r.bash('bin/rails test test/jobs', {
    description: 'Run the job tests',
    stdoutOverride: rails(2, 2, '0 failures, 0 errors, 0 skips', '1.204018', '..'),
  })
  await r.bash('bin/rails runner script/measure_export.rb 100000', {
    description: 'Memory and queries for 100,000 readings',
    stdoutOverride: 'readings: 100000\nqueries:  200003\nrss:      118 MB -> 694 MB\nseconds:  74.1',
  })
  r.say(
    'Two problems: `to_a` loads every reading, and `reading.sensor.bed` is an N+1: 200,003 queries for 100,000 rows. The CSV string is the third copy in memory.',
  )
  await r.edit(
    'app/jobs/sensor_export_job.rb',
    `    rows = export.house.readings.where(taken_at: export.range).to_a
    csv = CSV.generate do |out|
      out << %w[taken_at bed sensor value]
      rows.each do |reading|
        out << [reading.taken_at.iso8601, reading.sensor.bed.name, reading.sensor.label, reading.value]
      end
    end
    export.file.attach(io: StringIO.new(csv), filename: "#{export.house.slug}.csv")
    export.update!(state: "done", rows_count: rows.size)
`,
    `    count = 0
    Tempfile.create(["export", ".csv"]) do |file|
      out = CSV.new(file)
      out << %w[taken_at bed sensor value]
      readings(export).find_each(batch_size: 5_000) do |reading|
        out << [reading.taken_at.iso8601, reading.sensor.bed.name, reading.sensor.label, reading.value]
        count += 1
      end
      file.rewind
      export.file.attach(io: file, filename: "#{export.house.slug}.csv")
    end
    export.update!(state: "done", rows_count: count)
`,
  )
  await r.edit(
    'app/jobs/sensor_export_job.rb',
    '    ExportMailer.ready(export).deliver_now\n  end\n',
    `    ExportMailer.ready(export).deliver_now
  end

  private

  def readings(export)
    export.house.readings.where(taken_at: export.range).preload(sensor: :bed)
  end
`,
  )
  await r.bash('bin/rails test test/jobs', {
    description: 'Run the job tests',
    stdoutOverride: rails(2, 2, '0 failures, 0 errors, 0 skips', '1.188402', '..'),
  })
  await r.bash('bin/rails runner script/measure_export.rb 100000', {
    description: 'Memory and queries for 100,000 readings',
    stdoutOverride: 'readings: 100000\nqueries:  63\nrss:      118 MB -> 163 MB\nseconds:  9.8',
  })
  r.say(
    '63 queries and 163 MB. But find_each sorts by id, the old export was in order of time as far as the database felt like it. Let me check whether anybody relies on it.',
  )
  await r.grep('taken_at', { path: 'app', output_mode: 'content', '-n': true })
  r.interrupt()
  r.prompt('nobody relies on the order, they open it in Excel and sort. go on')
  await r.bash('bin/rails runner script/measure_export.rb 2600000', {
    description: 'The real size',
    stdoutOverride: 'readings: 2600000\nqueries:  1563\nrss:      118 MB -> 171 MB\nseconds:  402.7',
  })
  await r.bash(
    `bin/rails dbconsole -- -c "explain (costs off) select readings.* from readings where sensor_id in (select id from sensors) and taken_at between '2024-03-01' and '2024-04-01' and id > 0 order by id limit 5000"`,
    {
      description: 'Query plan of a batch',
      stdoutOverride: ` Limit
   ->  Index Scan using readings_pkey on readings
         Index Cond: (id > 0)
         Filter: ((taken_at >= '2024-03-01') AND (taken_at <= '2024-04-01'))`,
    },
  )
  await r.bash('bin/rails generate migration AddIndexToReadingsOnSensorAndTakenAt', {
    description: 'New migration',
    stdoutOverride:
      '      invoke  active_record\n      create    db/migrate/20240409064010_add_index_to_readings_on_sensor_and_taken_at.rb',
  })
  await r.write(
    'db/migrate/20240409064010_add_index_to_readings_on_sensor_and_taken_at.rb',
    `class AddIndexToReadingsOnSensorAndTakenAt < ActiveRecord::Migration[7.1]
  def change
    add_index :readings, [:sensor_id, :taken_at], algorithm: :concurrently
    remove_index :readings, column: :sensor_id, algorithm: :concurrently
  end
end
`,
  )
  await r.bash('bin/rails db:migrate', {
    description: 'Migrate',
    stdoutOverride: `== 20240409064010 AddIndexToReadingsOnSensorAndTakenAt: migrating =============
-- add_index(:readings, [:sensor_id, :taken_at], {:algorithm=>:concurrently})
bin/rails aborted!
StandardError: An error has occurred, this and all later migrations canceled:

PG::ActiveSqlTransaction: ERROR:  CREATE INDEX CONCURRENTLY cannot run inside a transaction block
/home/dev/greenhouse/db/migrate/20240409064010_add_index_to_readings_on_sensor_and_taken_at.rb:3:in \`change'

Caused by:
ActiveRecord::StatementInvalid: PG::ActiveSqlTransaction: ERROR:  CREATE INDEX CONCURRENTLY cannot run inside a transaction block
Tasks: TOP => db:migrate
(See full trace by running task with --trace)`,
    exitCode: 1,
  })
  await r.edit(
    'db/migrate/20240409064010_add_index_to_readings_on_sensor_and_taken_at.rb',
    'Migration[7.1]\n  def change',
    'Migration[7.1]\n  disable_ddl_transaction!\n\n  def change',
  )
  await r.bash('bin/rails db:migrate', {
    description: 'Migrate',
    stdoutOverride: `== 20240409064010 AddIndexToReadingsOnSensorAndTakenAt: migrating =============
-- add_index(:readings, [:sensor_id, :taken_at], {:algorithm=>:concurrently})
   -> 38.2210s
-- remove_index(:readings, {:column=>:sensor_id, :algorithm=>:concurrently})
   -> 0.2107s
== 20240409064010 AddIndexToReadingsOnSensorAndTakenAt: migrated (38.4319s) ===`,
  })
  await r.edit(
    'app/jobs/sensor_export_job.rb',
    `      readings(export).find_each(batch_size: 5_000) do |reading|
        out << [reading.taken_at.iso8601, reading.sensor.bed.name, reading.sensor.label, reading.value]
        count += 1
      end
`,
    `      export.house.sensors.includes(:bed).find_each do |sensor|
        each_reading(sensor, export.range) do |taken_at, value|
          out << [taken_at.iso8601, sensor.bed.name, sensor.label, value]
          count += 1
        end
      end
`,
  )
  await r.edit(
    'app/jobs/sensor_export_job.rb',
    `  def readings(export)
    export.house.readings.where(taken_at: export.range).preload(sensor: :bed)
  end
`,
    `  # Sensor by sensor along the index, without building models.
  def each_reading(sensor, range, &block)
    sensor.readings.where(taken_at: range).in_batches(of: 20_000) do |batch|
      batch.order(:taken_at).pluck(:taken_at, :value).each(&block)
    end
  end
`,
  )
  await r.bash('bin/rails runner script/measure_export.rb 2600000', {
    description: 'The real size',
    stdoutOverride: 'readings: 2600000\nqueries:  498\nrss:      118 MB -> 146 MB\nseconds:  58.3',
  })
  await r.bash('bin/rails test', {
    description: 'Run all tests',
    stdoutOverride: rails(
      94,
      251,
      '0 failures, 0 errors, 0 skips',
      '14.880213',
      '..............................................................................................',
    ),
  })
  await r.bash(
    `git add -A && git commit -m "Stream sensor exports: 694 MB to 146 MB, index on sensor and time

pluck per sensor instead of models with preload, because building 2.6 million
Reading objects was most of the time: 402 s to 58 s."`,
    { description: 'Commit' },
  )
  r.end(
    'The month of the big house (2.6 million readings) now takes 58 s at 146 MB. Before, `to_a` and the N+1 on `reading.sensor.bed` needed 200,003 queries for 100,000 rows. The job streams into a Tempfile, sensor by sensor, with `pluck` along a new index on `[sensor_id, taken_at]`. 94 tests pass.',
  )

  r.compact(
    'The user asked to fix the memory use of SensorExportJob (done, committed) and then the mail that is sent twice. Exports are streamed sensor by sensor. Next: double mails.',
  )
  r.prompt('now the double mails please')
  await r.read('app/models/export.rb')
  await r.read('app/jobs/sensor_export_job.rb')
  await r.agent(
    {
      description: 'Trace who enqueues the job',
      prompt: 'Find every path that can run SensorExportJob twice for one export: callbacks, retries, controllers.',
      type: 'general-purpose',
    },
    async (sub) => {
      await sub.grep('after_save|after_commit|perform_later', { path: 'app', output_mode: 'content', '-n': true })
      await sub.read('app/controllers/exports_controller.rb')
      await sub.bash('grep -n "touch\\|update" -r app | head', { description: 'Updates of exports' })
      return 'Two paths. 1) Export uses after_save :enqueue while state is "queued": any second save before the job starts (attaching the user\'s note does one) enqueues again. 2) retry_on StandardError repeats the whole job when deliver_now fails after the file was attached.'
    },
  )
  await r.bash(
    'kubectl -n prod logs deploy/sidekiq --since 24h | grep -c "SensorExportJob.*Performing"; kubectl -n prod logs deploy/sidekiq --since 24h | grep -E "Net::ReadTimeout|Deadlocked" | sort | uniq -c',
    {
      description: 'How often in production?',
      stdoutOverride:
        '61\n     17 Net::ReadTimeout (Net::ReadTimeout with #<TCPSocket:(closed)>) in ExportMailer.ready',
    },
  )
  r.say(
    '17 of 61 runs are repeats after Net::ReadTimeout in the mailer: the SMTP server takes the mail but answers late, then the whole job runs again and mails again.',
  )
  await r.edit(
    'app/models/export.rb',
    '  after_save :enqueue, if: -> { state == "queued" }\n',
    '  after_create_commit :enqueue\n',
  )
  await r.multiEdit('app/jobs/sensor_export_job.rb', [
    { old_string: 'ExportMailer.ready(export).deliver_now', new_string: 'ExportMailer.ready(export).deliver_later' },
    {
      old_string: '    export = Export.find(export_id)\n',
      new_string: '    export = Export.find(export_id)\n    return if export.state == "done"\n\n',
    },
  ])
  await r.edit(
    'test/jobs/sensor_export_job_test.rb',
    '  test "marks the export as done" do',
    `  test "a second run neither exports nor mails again" do
    SensorExportJob.perform_now(@export.id)
    assert_no_enqueued_emails { SensorExportJob.perform_now(@export.id) }
  end

  test "saving a queued export again does not enqueue it again" do
    assert_no_enqueued_jobs(only: SensorExportJob) { @export.update!(from: @export.from - 1.day) }
  end

  test "marks the export as done" do`,
  )
  await r.bash('bin/rails test test/jobs', {
    description: 'Run the job tests',
    stdoutOverride: rails(
      4,
      4,
      '0 failures, 1 errors, 0 skips',
      '1.301882',
      `..E

Error:
SensorExportJobTest#test_a_second_run_neither_exports_nor_mails_again:
NoMethodError: undefined method \`assert_no_enqueued_emails' for #<SensorExportJobTest:0x00007f1c2a9d3b58>
    test/jobs/sensor_export_job_test.rb:15:in \`block in <class:SensorExportJobTest>'

.`,
    ),
    exitCode: 1,
  })
  await r.edit(
    'test/jobs/sensor_export_job_test.rb',
    'class SensorExportJobTest < ActiveJob::TestCase\n',
    'class SensorExportJobTest < ActiveJob::TestCase\n  include ActionMailer::TestHelper\n\n',
  )
  await r.bash('bin/rails test', {
    description: 'Run all tests',
    stdoutOverride: rails(
      96,
      253,
      '0 failures, 0 errors, 0 skips',
      '14.902377',
      '................................................................................................',
    ),
  })
  await r.bash(
    `git commit -am "Send the export mail once

deliver_later instead of deliver_now: a slow SMTP answer (Net::ReadTimeout) made
retry_on repeat the whole export. Enqueue after_create_commit, not on every save." && git log --oneline | head -2`,
    { description: 'Commit' },
  )
  r.end(
    'The double mails had two causes: `deliver_now` ran into Net::ReadTimeout and `retry_on` repeated the whole job (17 of 61 runs in a day), and `after_save` enqueued on every save of a queued export. Now `deliver_later`, `after_create_commit`, and the job returns early when the export is done. 96 tests pass.',
  )
  r.slash('cost', 'Total cost: $1.84')
}

export const facts: { ask: string; expect: string[] }[] = [
  { ask: 'Why did the sidekiq pod run out of memory?', expect: ['to_a', 'memory'] },
  { ask: 'How bad was the N+1 in the export?', expect: ['N+1', '200,003'] },
  { ask: 'How much memory does the big export need now?', expect: ['146 MB', '2.6 million'] },
  { ask: 'Why pluck and not preload?', expect: ['pluck', '402', '58'] },
  { ask: 'Which index was added?', expect: ['sensor_id', 'taken_at', 'index'] },
  { ask: 'Why was the index migration aborted at first?', expect: ['CONCURRENTLY', 'transaction'] },
  { ask: 'Does anybody rely on the order of the rows?', expect: ['order', 'Excel'] },
  { ask: 'Why were mails sent twice?', expect: ['Net::ReadTimeout', 'retry_on'] },
  { ask: 'Which callback enqueues the export now?', expect: ['after_create_commit'] },
  { ask: 'How many tests pass at the end?', expect: ['96', 'tests'] },
]
