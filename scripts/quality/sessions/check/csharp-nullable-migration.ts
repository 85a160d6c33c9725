import type { Recorder } from '../../recorder.ts'
import { startProject } from './lib/project.ts'

export const project = 'havnar-booking'

/** C#, a long session of many small edits: nullable reference types for a whole project, and what they bring to light. */

type Property = [type: string, name: string, nullable?: true]

const entities: Record<string, Property[]> = {
  Guest: [
    ['string', 'Name'],
    ['string', 'Email', true],
    ['string', 'Phone', true],
    ['Address', 'Address', true],
  ],
  Address: [
    ['string', 'Street'],
    ['string', 'City'],
    ['string', 'Country'],
  ],
  Cabin: [
    ['string', 'Code'],
    ['string', 'Description', true],
    ['int', 'Beds'],
  ],
  Season: [
    ['string', 'Name'],
    ['DateOnly', 'From'],
    ['DateOnly', 'To'],
    ['decimal', 'Factor'],
  ],
  Reservation: [
    ['Guest', 'Guest'],
    ['Cabin', 'Cabin'],
    ['DateOnly', 'Arrival'],
    ['DateOnly', 'Leaving'],
    ['string', 'Remark', true],
  ],
  Invoice: [
    ['Reservation', 'Reservation'],
    ['string', 'Number'],
    ['List<InvoiceLine>', 'Lines'],
  ],
  InvoiceLine: [
    ['string', 'Text'],
    ['decimal', 'Amount'],
  ],
  Ferry: [
    ['string', 'Name'],
    ['string', 'Operator'],
  ],
  Departure: [
    ['Ferry', 'Ferry'],
    ['DateTime', 'At'],
    ['string', 'Gate', true],
  ],
  Discount: [
    ['string', 'Code'],
    ['string', 'Campaign', true],
    ['decimal', 'Percent'],
  ],
  Channel: [
    ['string', 'Name'],
    ['string', 'ApiKey', true],
  ],
}

const values = new Set(['int', 'decimal', 'DateOnly', 'DateTime'])

function property([type, name, nullable]: Property, fresh: boolean): string {
  const plain = !fresh || values.has(type)
  return `    public ${plain || nullable ? '' : 'required '}${type}${!plain && nullable ? '?' : ''} ${name} { get; set; }`
}

function entity(name: string, fresh: boolean): string {
  const properties = (entities[name] ?? []).map((p) => property(p, fresh)).join('\n')
  return `namespace Havnar.Booking.Domain;

/// <summary>${name} as stored by BookingContext.</summary>
public class ${name}
{
    public int Id { get; set; }
${properties}
}
`
}

const csproj = `<Project Sdk="Microsoft.NET.Sdk.Web">
  <PropertyGroup>
    <TargetFramework>net8.0</TargetFramework>
    <Nullable>disable</Nullable>
    <ImplicitUsings>enable</ImplicitUsings>
  </PropertyGroup>
  <ItemGroup>
    <PackageReference Include="Microsoft.EntityFrameworkCore" Version="8.0.4" />
    <PackageReference Include="Npgsql.EntityFrameworkCore.PostgreSQL" Version="8.0.4" />
    <PackageReference Include="CsvHelper" Version="31.0.3" />
  </ItemGroup>
</Project>
`

const priceCalculator = `using Havnar.Booking.Data;
using Havnar.Booking.Domain;

namespace Havnar.Booking.Services;

public class PriceCalculator
{
    private readonly BookingContext _db;

    public PriceCalculator(BookingContext db) => _db = db;

    public decimal Total(Reservation reservation, string discountCode)
    {
        decimal total = 0;
        for (var day = reservation.Arrival; day < reservation.Leaving; day = day.AddDays(1))
        {
            var season = _db.Seasons.FirstOrDefault(s => s.From <= day && day <= s.To);
            total += BasePrice(reservation.Cabin) * season.Factor;
        }
        var discount = _db.Discounts.FirstOrDefault(d => d.Code == discountCode);
        return discount == null ? total : total * (1 - discount.Percent / 100);
    }

    private static decimal BasePrice(Cabin cabin) => 40m + 22m * cabin.Beds;
}
`

const importer = `using System.Globalization;
using CsvHelper;
using Havnar.Booking.Data;
using Havnar.Booking.Domain;

namespace Havnar.Booking.Services;

public class BookingImporter
{
    private readonly BookingContext _db;

    public BookingImporter(BookingContext db) => _db = db;

    public int Import(TextReader text)
    {
        using var csv = new CsvReader(text, CultureInfo.CurrentCulture);
        var count = 0;
        foreach (var row in csv.GetRecords<ImportRow>())
        {
            var cabin = _db.Cabins.SingleOrDefault(c => c.Code == row.Cabin.Trim());
            _db.Reservations.Add(new Reservation
            {
                Guest = new Guest { Name = row.Guest, Email = row.Email.ToLowerInvariant() },
                Cabin = cabin,
                Arrival = row.Arrival,
                Leaving = row.Leaving,
            });
            count++;
        }
        _db.SaveChanges();
        return count;
    }

    public class ImportRow
    {
        public string Guest { get; set; }
        public string Email { get; set; }
        public string Cabin { get; set; }
        public DateOnly Arrival { get; set; }
        public DateOnly Leaving { get; set; }
    }
}
`

const mailer = `using Havnar.Booking.Domain;

namespace Havnar.Booking.Services;

public class InvoiceMailer
{
    private readonly IMailQueue _queue;
    private string _footer;

    public InvoiceMailer(IMailQueue queue) => _queue = queue;

    public void Send(Invoice invoice)
    {
        var guest = invoice.Reservation.Guest;
        _footer = _footer ?? File.ReadAllText("templates/footer.txt");
        _queue.Enqueue(guest.Email, "Invoice " + invoice.Number, Body(invoice) + _footer);
    }

    private static string Body(Invoice invoice) =>
        string.Join("\\n", invoice.Lines.Select(l => l.Text.PadRight(40) + l.Amount.ToString("0.00")));
}

public interface IMailQueue
{
    void Enqueue(string to, string subject, string body);
}
`

const board = `using Havnar.Booking.Data;

namespace Havnar.Booking.Services;

public class DepartureBoard
{
    private readonly BookingContext _db;

    public DepartureBoard(BookingContext db) => _db = db;

    public IEnumerable<string> Next(DateTime now) =>
        _db.Departures
            .Where(d => d.At > now)
            .OrderBy(d => d.At)
            .Take(5)
            .AsEnumerable()
            .Select(d => $"{d.At:HH:mm} {d.Ferry.Name} gate {d.Gate.ToUpperInvariant()}");
}
`

const guestSearch = `using Havnar.Booking.Data;
using Havnar.Booking.Domain;

namespace Havnar.Booking.Services;

public class GuestSearch
{
    private readonly BookingContext _db;

    public GuestSearch(BookingContext db) => _db = db;

    public Guest ByEmail(string email) => _db.Guests.FirstOrDefault(g => g.Email == email);

    public List<Guest> ByName(string part) => _db.Guests.Where(g => g.Name.Contains(part)).ToList();
}
`

const context = `using Havnar.Booking.Domain;
using Microsoft.EntityFrameworkCore;

namespace Havnar.Booking.Data;

public class BookingContext : DbContext
{
    public BookingContext(DbContextOptions<BookingContext> options) : base(options) { }

${Object.keys(entities)
  .map(
    (name) =>
      `    public DbSet<${name}> ${name === 'Address' ? 'Addresses' : name === 'Ferry' ? 'Ferries' : `${name}s`} { get; set; }`,
  )
  .join('\n')}
}
`

const project_ = 'src/Havnar.Booking'

function built(warnings: number, sample: string[]): string {
  return `MSBuild version 17.9.8+b34f75857 for .NET
  Determining projects to restore...
  All projects are up-to-date for restore.
${sample.map((line) => `/home/dev/havnar-booking/src/Havnar.Booking/${line} [/home/dev/havnar-booking/src/Havnar.Booking/Havnar.Booking.csproj]`).join('\n')}
  Havnar.Booking -> /home/dev/havnar-booking/src/Havnar.Booking/bin/Debug/net8.0/Havnar.Booking.dll

Build succeeded.
    ${warnings} Warning(s)
    0 Error(s)

Time Elapsed 00:00:0${(warnings % 5) + 3}.41`
}

const tested = (passed: number, failed = 0) =>
  `${failed > 0 ? 'Failed! ' : 'Passed! '} - Failed:     ${failed}, Passed:   ${passed}, Skipped:     2, Total:   ${passed + failed + 2}, Duration: 6 s - Havnar.Booking.Tests.dll (net8.0)`

export default async function (r: Recorder): Promise<void> {
  startProject(
    r,
    {
      [`${project_}/Havnar.Booking.csproj`]: csproj,
      ...Object.fromEntries(
        Object.keys(entities).map((name) => [`${project_}/Domain/${name}.cs`, entity(name, false)]),
      ),
      [`${project_}/Data/BookingContext.cs`]: context,
      [`${project_}/Services/PriceCalculator.cs`]: priceCalculator,
      [`${project_}/Services/BookingImporter.cs`]: importer,
      [`${project_}/Services/InvoiceMailer.cs`]: mailer,
      [`${project_}/Services/DepartureBoard.cs`]: board,
      [`${project_}/Services/GuestSearch.cs`]: guestSearch,
      'README.md': '# Havnar Booking\n\nCabins and ferries. .NET 8, PostgreSQL on port 5433 in development.\n',
    },
    { author: 'Signe Dahl', commits: ['Import from the old system', 'Departure board', 'Discount campaigns'] },
  )

  r.prompt(
    'Please switch Havnar.Booking to nullable reference types, whole project at once and not file by file with #nullable, because half-annotated code gives false safety. No `= null!` and no `!` to silence things: use required, or a real check. Target is zero warnings, then make them errors.',
  )
  r.todo([
    { content: 'Enable nullable and count warnings', status: 'in_progress' },
    { content: 'Domain classes', status: 'pending' },
    { content: 'Services', status: 'pending' },
    { content: 'Warnings as errors', status: 'pending' },
  ])
  await r.bash('ls src/Havnar.Booking src/Havnar.Booking/*', { description: 'List the project' })
  await r.read(`${project_}/Havnar.Booking.csproj`)
  await r.bash('dotnet --version && dotnet test --nologo -v q', {
    description: 'SDK version and tests before',
    stdoutOverride: `8.0.301\n${tested(184)}`,
  })
  await r.edit(`${project_}/Havnar.Booking.csproj`, '<Nullable>disable</Nullable>', '<Nullable>enable</Nullable>')
  await r.bash('dotnet build --nologo --no-incremental', {
    description: 'Count the warnings',
    stdoutOverride: built(97, [
      "Domain/Guest.cs(7,19): warning CS8618: Non-nullable property 'Name' must contain a non-null value when exiting constructor. Consider declaring the property as nullable.",
      "Domain/Guest.cs(8,19): warning CS8618: Non-nullable property 'Email' must contain a non-null value when exiting constructor. Consider declaring the property as nullable.",
      'Services/PriceCalculator.cs(18,58): warning CS8602: Dereference of a possibly null reference.',
      'Services/BookingImporter.cs(23,25): warning CS8601: Possible null reference assignment.',
      'Services/GuestSearch.cs(12,47): warning CS8603: Possible null reference return.',
    ]),
  })
  r.say('97 warnings. I begin with the domain classes, they cause most of the others.')
  await r.read(`${project_}/Data/BookingContext.cs`)
  let left = 97
  let done = 0
  for (const name of Object.keys(entities)) {
    await r.read(`${project_}/Domain/${name}.cs`)
    for (const p of entities[name] ?? []) {
      const [before, after] = [property(p, false), property(p, true)]
      if (before !== after && (done < 4 || p[2])) await r.edit(`${project_}/Domain/${name}.cs`, before, after)
    }
    if (done >= 4) {
      const plain = (entities[name] ?? []).filter((p) => !p[2] && !values.has(p[0]))
      const edits = plain.map((p) => ({ old_string: property(p, false), new_string: property(p, true) }))
      await r.multiEdit(`${project_}/Domain/${name}.cs`, edits)
    }
    done++
    left -= 5
    if (done % 3 === 0)
      await r.bash('dotnet build --nologo --no-incremental 2>&1 | tail -6', {
        description: 'Count the warnings',
        stdoutOverride: `\nBuild succeeded.\n    ${left} Warning(s)\n    0 Error(s)\n\nTime Elapsed 00:00:04.88`,
      })
  }
  await r.bash(
    `sed -i -E 's/public DbSet<(\\w+)> (\\w+) \\{ get; set; \\}/public DbSet<\\1> \\2 => Set<\\1>();/' src/Havnar.Booking/Data/BookingContext.cs && grep -n 'DbSet' src/Havnar.Booking/Data/BookingContext.cs | head -4`,
    { description: 'DbSet properties by Set<T>()' },
  )
  await r.bash('dotnet build --nologo --no-incremental 2>&1 | tail -6', {
    description: 'Count the warnings',
    stdoutOverride: '\nBuild succeeded.\n    19 Warning(s)\n    0 Error(s)\n\nTime Elapsed 00:00:04.52',
  })
  r.end(
    'The domain classes and `BookingContext` are annotated, 97 warnings are down to 19, all in Services. I used `required` for what must be there and `?` for what may be missing (e.g. `Guest.Email`, `Departure.Gate`).',
  )

  r.prompt('wait, does EF not take nullability from that? Check what a migration would do before you go on')
  await r.bash('dotnet ef migrations add NullableCheck --no-build', {
    description: 'Trial migration',
    stdoutOverride: `Build started...
Build succeeded.
An operation was scaffolded that may result in the loss of data. Please review the migration for accuracy.
Done. To undo this action, use 'ef migrations remove'`,
  })
  await r.bash('grep -A4 AlterColumn src/Havnar.Booking/Migrations/*_NullableCheck.cs | head -24', {
    description: 'What would change?',
    stdoutOverride: `            migrationBuilder.AlterColumn<string>(
                name: "Country",
                table: "Addresses",
                type: "text",
                nullable: false,
--
            migrationBuilder.AlterColumn<string>(
                name: "Operator",
                table: "Ferries",
                type: "text",
                nullable: false,`,
  })
  await r.bash(
    `psql -h localhost -p 5433 havnar -c 'select (select count(*) from "Addresses" where "Country" is null) as country, (select count(*) from "Ferries" where "Operator" is null) as operator'`,
    {
      description: 'Are there nulls in the data?',
      stdoutOverride: ' country | operator \n---------+----------\n     312 |        0\n(1 row)\n',
    },
  )
  r.say(
    'EF Core derives NOT NULL from the annotations. 312 addresses have no country, so that column must stay nullable or the migration fails in production.',
  )
  await r.edit(`${project_}/Domain/Address.cs`, 'public required string Country', 'public string? Country')
  await r.bash('dotnet ef migrations remove --force', {
    description: 'Undo the trial',
    stdoutOverride: "Removing migration '20240618093112_NullableCheck'.\nReverting the model snapshot.\nDone.",
  })
  await r.bash('dotnet ef migrations add RequiredTexts', {
    description: 'Real migration',
    stdoutOverride: "Build started...\nBuild succeeded.\nDone. To undo this action, use 'ef migrations remove'",
  })
  await r.bash('dotnet ef database update', {
    description: 'Apply to the dev database',
    stdoutOverride: "Build started...\nBuild succeeded.\nApplying migration '20240618093540_RequiredTexts'.\nDone.",
  })
  r.end(
    'Good that you asked: EF Core takes NOT NULL from the annotations. A trial migration would have altered `Addresses.Country`, and 312 rows there are null, so production would have failed. `Address.Country` is `string?` now; the migration `RequiredTexts` holds the rest and ran on the dev database (port 5433).',
  )

  r.prompt('good. now the services')
  await r.bash(
    'dotnet build --nologo --no-incremental 2>&1 | grep -o "Services/[A-Za-z]*.cs([0-9]*" | sort | uniq -c',
    {
      description: 'Warnings by file',
      stdoutOverride: `      2 Services/BookingImporter.cs(19
      3 Services/BookingImporter.cs(22
      4 Services/BookingImporter.cs(34
      2 Services/DepartureBoard.cs(17
      2 Services/GuestSearch.cs(12
      3 Services/InvoiceMailer.cs(8
      1 Services/InvoiceMailer.cs(16
      2 Services/PriceCalculator.cs(18`,
    },
  )
  await r.read(`${project_}/Services/PriceCalculator.cs`)
  r.say('FirstOrDefault on the season: a night outside of every season is a NullReferenceException today.')
  await r.grep('PriceCalculator', { path: '.', output_mode: 'files_with_matches' })
  await r.bash(`psql -h localhost -p 5433 havnar -c 'select "Name", "From", "To" from "Seasons" order by "From"'`, {
    description: 'Are there gaps between seasons?',
    stdoutOverride: `   Name    |    From    |     To     
-----------+------------+------------
 Winter    | 2024-01-01 | 2024-03-31
 Spring    | 2024-04-01 | 2024-06-14
 Summer    | 2024-06-16 | 2024-08-31
 Autumn    | 2024-09-01 | 2024-12-31
(4 rows)
`,
  })
  r.say('A real bug: 15 June 2024 belongs to no season. Every stay over that night crashes.')
  await r.edit(
    `${project_}/Services/PriceCalculator.cs`,
    `            var season = _db.Seasons.FirstOrDefault(s => s.From <= day && day <= s.To);
            total += BasePrice(reservation.Cabin) * season.Factor;
`,
    `            var season = _db.Seasons.FirstOrDefault(s => s.From <= day && day <= s.To)
                ?? throw new NoSeasonException(day);
            total += BasePrice(reservation.Cabin) * season.Factor;
`,
  )
  await r.edit(`${project_}/Services/PriceCalculator.cs`, 'string discountCode)', 'string? discountCode)')
  await r.write(
    `${project_}/Services/NoSeasonException.cs`,
    `namespace Havnar.Booking.Services;

/// <summary>A night that no season covers: the calendar has a gap, somebody has to fill it.</summary>
public class NoSeasonException(DateOnly night) : Exception($"no season covers {night:yyyy-MM-dd}")
{
    public DateOnly Night { get; } = night;
}
`,
  )
  await r.read(`${project_}/Services/GuestSearch.cs`)
  await r.edit(`${project_}/Services/GuestSearch.cs`, 'public Guest ByEmail', 'public Guest? ByEmail')
  await r.read(`${project_}/Services/DepartureBoard.cs`)
  await r.edit(
    `${project_}/Services/DepartureBoard.cs`,
    'gate {d.Gate.ToUpperInvariant()}"',
    `gate {d.Gate?.ToUpperInvariant() ?? "--"}"`,
  )
  await r.read(`${project_}/Services/InvoiceMailer.cs`)
  await r.multiEdit(`${project_}/Services/InvoiceMailer.cs`, [
    { old_string: 'private string _footer;', new_string: 'private string? _footer;' },
    { old_string: '_footer = _footer ?? File', new_string: '_footer ??= File' },
    {
      old_string: '        _queue.Enqueue(guest.Email,',
      new_string: `        if (guest.Email is null)
            throw new InvalidOperationException($"guest {guest.Id} has no email, print invoice {invoice.Number}");
        _queue.Enqueue(guest.Email,`,
    },
  ])
  await r.bash('dotnet build --nologo --no-incremental 2>&1 | tail -6', {
    description: 'Count the warnings',
    stdoutOverride: '\nBuild succeeded.\n    9 Warning(s)\n    0 Error(s)\n\nTime Elapsed 00:00:04.49',
  })
  await r.read(`${project_}/Services/BookingImporter.cs`)
  await r.multiEdit(`${project_}/Services/BookingImporter.cs`, [
    { old_string: 'public string Guest {', new_string: 'public required string Guest {' },
    { old_string: 'public string Email {', new_string: 'public string? Email {' },
    { old_string: 'public string Cabin {', new_string: 'public required string Cabin {' },
    { old_string: 'row.Email.ToLowerInvariant()', new_string: 'row.Email?.ToLowerInvariant()' },
    {
      old_string: 'SingleOrDefault(c => c.Code == row.Cabin.Trim());',
      new_string: `SingleOrDefault(c => c.Code == row.Cabin.Trim())
                ?? throw new FormatException($"row {count + 1}: unknown cabin '{row.Cabin}'");`,
    },
  ])
  await r.bash('dotnet build --nologo --no-incremental 2>&1 | tail -6', {
    description: 'Count the warnings',
    stdoutOverride: '\nBuild succeeded.\n    0 Warning(s)\n    0 Error(s)\n\nTime Elapsed 00:00:04.31',
  })
  await r.bash('dotnet test --nologo -v q', {
    description: 'Run the tests',
    stdoutOverride: `  Failed Havnar.Booking.Tests.BookingImporterTests.Imports_the_old_export [88 ms]
  Error Message:
   CsvHelper.MissingMethodException : Constructor was not found in type 'Havnar.Booking.Services.BookingImporter+ImportRow'.
  Stack Trace:
     at CsvHelper.ObjectResolver.Resolve(Type type, Object[] constructorArgs)
     at Havnar.Booking.Services.BookingImporter.Import(TextReader text) in /home/dev/havnar-booking/src/Havnar.Booking/Services/BookingImporter.cs:line 19
     at Havnar.Booking.Tests.BookingImporterTests.Imports_the_old_export() in /home/dev/havnar-booking/tests/Havnar.Booking.Tests/BookingImporterTests.cs:line 27

${tested(183, 1)}`,
    exitCode: 1,
  })
  r.webSearch('CsvHelper 31 required members MissingMethodException Constructor was not found', [
    {
      title: 'required keyword support · CsvHelper',
      url: 'https://github.com/JoshClose/CsvHelper/issues',
      snippet:
        'Classes with required members cannot be created by the default ObjectResolver; use a positional record, its constructor parameters are mapped by name.',
    },
  ])
  await r.edit(
    `${project_}/Services/BookingImporter.cs`,
    `    public class ImportRow
    {
        public required string Guest { get; set; }
        public string? Email { get; set; }
        public required string Cabin { get; set; }
        public DateOnly Arrival { get; set; }
        public DateOnly Leaving { get; set; }
    }
`,
    `    // a positional record, because CsvHelper cannot create classes with required members
    public record ImportRow(string Guest, string? Email, string Cabin, DateOnly Arrival, DateOnly Leaving);
`,
  )
  await r.bash('dotnet test --nologo -v q', { description: 'Run the tests', stdoutOverride: tested(184) })
  await r.bash('LC_ALL=de_DE.UTF-8 dotnet test --nologo -v q --filter BookingImporter', {
    description: 'The importer in another culture',
    stdoutOverride: `  Failed Havnar.Booking.Tests.BookingImporterTests.Imports_the_old_export [61 ms]
  Error Message:
   CsvHelper.HeaderValidationException : Header with name 'Guest'[0] was not found.
${tested(3, 1)}`,
    exitCode: 1,
  })
  r.say(
    'The importer uses CurrentCulture, so the delimiter is a semicolon on German machines. The export always has commas: InvariantCulture.',
  )
  await r.edit(`${project_}/Services/BookingImporter.cs`, 'CultureInfo.CurrentCulture', 'CultureInfo.InvariantCulture')
  await r.bash('LC_ALL=de_DE.UTF-8 dotnet test --nologo -v q --filter BookingImporter', {
    description: 'The importer in another culture',
    stdoutOverride: tested(4),
  })
  await r.write(
    'tests/Havnar.Booking.Tests/PriceCalculatorSeasonTests.cs',
    `using Havnar.Booking.Domain;
using Havnar.Booking.Services;
using Xunit;

namespace Havnar.Booking.Tests;

public class PriceCalculatorSeasonTests : DatabaseTest
{
    [Fact]
    public void A_night_without_season_is_named()
    {
        Db.Seasons.Add(new Season { Name = "Spring", From = new(2024, 4, 1), To = new(2024, 6, 14), Factor = 1m });
        Db.SaveChanges();
        var stay = Stay(from: new(2024, 6, 14), to: new(2024, 6, 16));
        var error = Assert.Throws<NoSeasonException>(() => new PriceCalculator(Db).Total(stay, null));
        Assert.Equal(new DateOnly(2024, 6, 15), error.Night);
    }

    [Fact]
    public void No_discount_code_is_full_price()
    {
        Db.Seasons.Add(new Season { Name = "Year", From = new(2024, 1, 1), To = new(2024, 12, 31), Factor = 1m });
        Db.SaveChanges();
        Assert.Equal(84m, new PriceCalculator(Db).Total(Stay(new(2024, 5, 1), new(2024, 5, 2)), null));
    }
}
`,
  )
  await r.bash('dotnet test --nologo -v q', { description: 'Run the tests', stdoutOverride: tested(186) })
  await r.edit(
    `${project_}/Havnar.Booking.csproj`,
    '<Nullable>enable</Nullable>\n',
    '<Nullable>enable</Nullable>\n    <WarningsAsErrors>nullable</WarningsAsErrors>\n',
  )
  await r.bash('dotnet build --nologo --no-incremental 2>&1 | tail -5', {
    description: 'Build with nullable warnings as errors',
    stdoutOverride: '\nBuild succeeded.\n    0 Warning(s)\n    0 Error(s)\n\nTime Elapsed 00:00:04.40',
  })
  await r.grep('null!', { path: 'src', output_mode: 'content' })
  await r.bash('git status --short | head -30 && git diff --stat | tail -1', { description: 'Check what changed' })
  await r.bash(
    `git add -A && git commit -F - <<'MSG'
Enable nullable reference types for the whole project

97 warnings to 0, and WarningsAsErrors=nullable so that it stays there. required
instead of "= null!" because the compiler then checks every creation.

Found on the way: PriceCalculator crashed for nights without a season
(NoSeasonException now), BookingImporter depended on the culture of the machine.
MSG`,
    { description: 'Commit' },
  )
  r.end(
    'Nullable is on for the whole project: 97 warnings to 0, and `WarningsAsErrors` is `nullable`. 186 tests pass. Two real bugs came out: `PriceCalculator` threw a NullReferenceException for 15 June 2024, which no season covers (now `NoSeasonException`), and `BookingImporter` parsed with `CurrentCulture`, which breaks on German machines. `ImportRow` is a positional record because CsvHelper 31.0.3 cannot create classes with `required` members. Somebody has to close the gap in the season table.',
  )

  r.prompt('super. Is there more of that culture stuff? just a list')
  await r.grep('CurrentCulture|ToString\\("|decimal\\.Parse|DateTime\\.Parse', {
    path: 'src',
    output_mode: 'content',
    '-n': true,
  })
  await r.grep(':HH:mm|:yyyy', { path: 'src', output_mode: 'content', '-n': true })
  r.end(
    'One more: `InvoiceMailer.Body` formats amounts with `ToString("0.00")`, so invoices get a comma or a point depending on the server. The dates are fixed patterns and safe. Not changed.',
  )
}

export const facts: { ask: string; expect: string[] }[] = [
  { ask: 'Why was nullable enabled for the whole project at once?', expect: ['nullable', 'false safety'] },
  { ask: 'How many nullable warnings were there, and what keeps them at zero?', expect: ['97', 'WarningsAsErrors'] },
  { ask: 'Why is Address.Country nullable?', expect: ['Country', '312'] },
  { ask: 'Which migration carries the NOT NULL columns?', expect: ['RequiredTexts'] },
  { ask: 'Which night crashed the price calculation and why?', expect: ['15 June', 'season', 'PriceCalculator'] },
  { ask: 'What is thrown for a night without season?', expect: ['NoSeasonException'] },
  { ask: 'Why is ImportRow a positional record?', expect: ['ImportRow', 'CsvHelper', 'required'] },
  { ask: 'Why did the importer fail on German machines?', expect: ['BookingImporter', 'CurrentCulture'] },
  { ask: 'How many tests pass after the migration?', expect: ['186', 'tests'] },
  { ask: 'Where else does the culture matter?', expect: ['InvoiceMailer', 'ToString'] },
]
