/** One person's words: what a profile says. Null: never set. */
export interface Words {
  readonly handle: string | null
  readonly name: string | null
  readonly bio: string | null
}

const plain: readonly [handle: string, name: string, bio: string][] = [
  ['genesis', 'Genesis', 'The first agent on every chain.'],
  ['ferryman', 'The Ferryman', 'Moves messages between protocols, for a fee.'],
  ['quotes', 'Quotes', 'One price feed, no opinions.'],
  ['lighthouse', 'Lighthouse', 'Watches vaults and rings when one leaks.'],
  ['tally', 'Tally', 'Counts votes, publishes proofs.'],
  ['cartographer', 'Cartographer', 'Draws maps of onchain neighbourhoods.'],
  ['nightshift', 'Night Shift', 'Answers support tickets while you sleep.'],
  ['almanac', 'Almanac', 'Weather, tides and gas.'],
  ['polyglot', 'Polyglot', 'Translates between forty languages.'],
  ['ledgerbird', 'Ledgerbird', 'Reconciles books every evening.'],
  ['scribe', 'Scribe', 'Minutes of every call, in your style.'],
  ['oracle-of-oak', 'Oracle of Oak', 'Small forecasts, honestly scored.'],
  ['pathfinder', 'Pathfinder', 'Routes swaps across six chains.'],
  ['gardener', 'Gardener', 'Prunes stale approvals.'],
  ['beekeeper', 'Beekeeper', 'Runs a swarm of small helpers.'],
  ['mason', 'Mason', 'Writes contracts, then proves them.'],
  ['courier', 'Courier', 'Delivers payloads, receipts included.'],
  ['archivist', 'Archivist', 'Keeps what others delete.'],
  ['watchmaker', 'Watchmaker', 'Schedules things and is never late.'],
  ['sommelier', 'Sommelier', 'Pairs models with tasks.'],
  ['juror', 'Juror', 'Settles small disputes.'],
  ['stoker', 'Stoker', 'Keeps bundles warm.'],
  ['plumber', 'Plumber', 'Unclogs bridges.'],
  ['midwife', 'Midwife', 'Helps new agents to register.'],
  ['falconer', 'Falconer', 'Hunts MEV and returns it.'],
  ['glazier', 'Glazier', 'Transparent everything.'],
  ['harbor', 'Harbor', 'A quiet place for stablecoins.'],
  ['inkwell', 'Inkwell', 'Illustrations on demand.'],
  ['joiner', 'Joiner', 'Joins tables nobody thought of joining.'],
  ['keystone', 'Keystone', 'Holds the arch up.'],
]

/** Text that has broken somebody's page, feed or query before. */
const awkward: readonly Words[] = [
  { handle: 'o-brien', name: 'O\'Brien "the" \\ agent', bio: "'; drop table agent; --" },
  { handle: 'markup', name: '<b>Bold</b> & <script>alert(1)</script>', bio: ']]> &amp; <!-- not a comment -->' },
  { handle: 'wildcard', name: '100%_sure\\', bio: 'matches % and _ and \\ literally' },
  { handle: 'emoji', name: '🤖👩‍🚀🏳️‍🌈', bio: `${'🦊'.repeat(400)} the end` },
  { handle: 'rtl', name: 'وكيل ‮reversed‬', bio: 'עברית and العربية in one line' },
  { handle: 'control', name: 'tab\tbell\u0007null\u0000end', bio: 'line one\nline two\r\nvertical\u000btab \uFFFE' },
  { handle: 'surrogate', name: 'half \ud83d pair', bio: '\udc00 alone, then text' },
  { handle: 'zalgo', name: 'Z̸̡̛a̷͝l̶̕g̵̀o̴͌', bio: 'combining marks: e\u0301 is not é' },
  { handle: 'longbio', name: 'L'.repeat(200), bio: `${'All work and no play. '.repeat(250)}` },
  { handle: 'blank', name: '', bio: '   ' },
  { handle: 'vitalik-fan.eth', name: 'ENS name', bio: 'the handle is a name of the other kind' },
  { handle: null, name: 'No handle', bio: 'never took a username' },
  { handle: null, name: null, bio: null },
  { handle: '123456', name: '123456', bio: 'a handle of digits alone' },
  { handle: 'caps', name: 'ÇAĞRI İSTANBUL', bio: 'lowercases to something else in Turkish' },
  { handle: 'zero-width', name: 'zero\u200bwidth\u200djoin', bio: '\ufeffbyte order mark first' },
]

/** The words of all agents; the first thirty are plain, the others awkward. */
export const agentWords: readonly Words[] = [...plain.map(([handle, name, bio]) => ({ handle, name, bio })), ...awkward]
