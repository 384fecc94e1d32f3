import { type Asked, beginsSo, exactOf, isSeldom, isUnsaid, likeSome, mostRanked, nameHas, saysSo } from './search.ts'

/** Which agents are counted. */
interface Counted {
  /** Those of any part among agents whose FIDs these are, with `part` and `fid` first. */
  readonly lookedUp: (fids: string) => string
  /** Each agent is of one at most. */
  readonly parts: ReadonlyMap<number, Part>
}

/** A group of agents that are counted in the same way. */
export interface Part {
  /** SQL conditions over the agent `a`. */
  readonly conditions: readonly string[]
  /** What is selected of an agent `a` that fits: the number of the part as `part`, and what it is counted by. */
  readonly columns: string
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
export function searchedHits(asked: Asked, { lookedUp, parts }: Counted): string {
  const ofPart = ([part, { conditions, columns }]: readonly [number, Part]) => {
    const agents = conditions.length === 0 ? '' : 'join agent a on a.fid = s.fid'
    const fits = conditions.map((condition) => ` and ${condition}`).join('')
    const named = (fids: string) => `select ${columns} from agent a where a.fid = any (array(${fids}))`
    const says = `select s.fid from searched_agent s ${agents} where ${saysSo}${fits}`
    return `
  union all (select * from early where part = ${part} and not (select ${isShort(part)} from short) limit ${mostRanked})
  union all (${named(`${says} and (select ${isShort(part)} from short) limit ${mostRanked}`)})
  union all (select ${columns} from agent a where ${nameHas}${fits} limit ${mostRanked})
  union all (${named(`select s.fid from searched_agent s ${agents} where (select is_so from unsaid) and ${beginsSo}${fits} limit ${mostRanked}`)})
  union all (${named(likeSome('s.fid', agents, `${isSeldom(asked)}${fits}`))})`
  }
  const numbers = [...parts.keys()]
  return `
${exactOf(asked)},
said as materialized (select s.fid from searched_agent s where ${saysSo} limit ${mostEarly}),
unsaid as materialized (select ${isUnsaid(asked, 'select from said')} as is_so),
early as materialized (${lookedUp('select fid from said')}),
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
  ${lookedUp(`select fid from exact limit ${mostExact}`)}
${[...parts].map(ofPart).join('')}
),
is_cut as (select exists (select from hit group by part having count(*) >= ${mostRanked}) as is_cut)`
}

const isShort = (part: number) => `short_of_${part}`
