import { type Asked, exactOf, isLike, isSeldom, mostRanked, nameHas, saysSo } from './search.ts'

/** Which agents are counted: conditions over the agent `a`. */
interface Counted {
  /** What is read of an agent, `part` and `fid` among it. */
  readonly columns: string
  /** Of every part together; that of each: each agent is of one part at most. */
  readonly any: readonly string[]
  readonly parts: ReadonlyMap<number, readonly string[]>
}

/** Agents of the words that are looked at first. Enough of a part that most agents are of. */
const mostEarly = 2_500
/** Agents that are named; more would hold a common address. */
const mostExact = 1_000

/**
 * Agents that a search finds, as common table expressions `hit`, an agent for each way it is found, and `is_cut`: there may
 * be more. Of each part and way as many at most as a search ranks.
 *
 * Who says the words is read once: those found first are looked up, and are all there are of a word of few. Of a word
 * of many, a part that few of them are of is looked for by its own conditions, from whichever is rarer; the others have
 * enough.
 */
export function searchedHits(asked: Asked, { columns, any, parts }: Counted): string {
  const where = (...conditions: (string | readonly string[])[]) => conditions.flat().join(' and ')
  const lookedUp = (fids: string, ...conditions: (string | readonly string[])[]) =>
    `select ${columns} from agent a where ${where(`a.fid = any (array(${fids}))`, ...conditions)}`
  const narrowed = (part: number, words: string) => {
    const fits = parts.get(part) ?? []
    const agents = fits.length === 0 ? '' : 'join agent a on a.fid = s.fid'
    return `select s.fid from agent_words s ${agents} where ${where(words, fits)}`
  }
  const ofPart = (part: number) => `
  union all (select * from early where part = ${part} and not (select ${isShort(part)} from short) limit ${mostRanked})
  union all (${lookedUp(`${narrowed(part, saysSo)} and (select ${isShort(part)} from short) limit ${mostRanked}`, any)})
  union all (select ${columns} from agent a where ${where(nameHas, parts.get(part) ?? [])} limit ${mostRanked})
  union all (${lookedUp(`${narrowed(part, isLike)} and ${isSeldom} limit ${mostRanked}`, any)})`
  const numbers = [...parts.keys()]
  return `
${exactOf(asked)},
said as materialized (select s.fid from agent_words s where ${saysSo} limit ${mostEarly}),
early as materialized (${lookedUp('select fid from said', any)}),
short as materialized (
  select ${numbers
    .map(
      (part) => `
    (select count(*) from said) = ${mostEarly}
      and (select count(*) from early where part = ${part}) < ${mostRanked} as ${isShort(part)}`,
    )
    .join(',')}
),
hit as materialized (
  ${lookedUp(`select fid from exact limit ${mostExact}`, any)}
${numbers.map(ofPart).join('')}
),
is_cut as (select exists (select from hit group by part having count(*) >= ${mostRanked}) as is_cut)`
}

const isShort = (part: number) => `short_of_${part}`
