/** Told of each agent that cannot be shown; the answer goes without it. */
export type LeftOut = (fid: number, cause: unknown) => void

/** Statements that looking for agents that cannot be shown may take: of some dozens, the next request goes on. */
const mostStatements = 400

const codeOf = (cause: unknown) => String((cause as { code?: unknown } | null)?.code)

/** Whether an error is about what was read, so that other rows may do, and not about the database. */
export const isOfRows = (cause: unknown) => /^(22|54|P0|XX)...$/.test(codeOf(cause)) // data, limits, raised, internal

/** Whether a statement was cancelled for its length: with fewer rows it may do. */
export const isTooSlow = (cause: unknown) => codeOf(cause) === '57014'

interface Parts<T> {
  readonly fids: readonly number[]
  readonly read: (fids: readonly number[]) => Promise<T>
  readonly leftOut: LeftOut
}

/** Reads agents in parts, each halved until what is left out is the one agent that cannot be shown. */
export async function readInParts<T>({ fids: all, read, leftOut }: Parts<T>): Promise<T[]> {
  let statements = 0
  const readPart = async (fids: readonly number[]): Promise<T[]> => {
    statements++
    try {
      return [await read(fids)]
    } catch (cause) {
      if ((!isOfRows(cause) && !isTooSlow(cause)) || statements > mostStatements) throw cause
      const [fid] = fids
      if (fid === undefined) throw cause
      if (fids.length === 1) {
        leftOut(fid, cause)
        return []
      }
      const half = fids.length >> 1
      return [...(await readPart(fids.slice(0, half))), ...(await readPart(fids.slice(half)))]
    }
  }
  return readPart(all)
}

/** Which of the agents of a list are shown: these alone, or all without these. */
export type Choice = { readonly only: readonly number[] } | { readonly without: readonly number[] }
export const everyone: Choice = { without: [] }

/** The choice as a condition on a column of FIDs, to be told which parameter has them; none when all are shown. */
export function chosen(choice: Choice, column: string, parameter: string): string {
  if ('only' in choice) return `where ${column} = any (${parameter}::bigint[])`
  return choice.without.length === 0 ? '' : `where ${column} <> all (${parameter}::bigint[])`
}

/** The value of the parameter of `chosen`, as a list of none or one. */
export const chosenValue = (choice: Choice): (readonly number[])[] =>
  'only' in choice ? [choice.only] : choice.without.length === 0 ? [] : [choice.without]

/**
 * A list of one moment, read at once while every agent of it can be shown. Otherwise the list is read once more without
 * those that cannot, which are looked for among `fids`.
 */
export async function listWithoutBroken<T>({
  fids,
  read,
  leftOut,
}: {
  readonly fids: () => Promise<readonly number[]>
  readonly read: (choice: Choice) => Promise<T>
  readonly leftOut: LeftOut
}): Promise<T> {
  try {
    return await read(everyone)
  } catch (cause) {
    if (!isOfRows(cause)) throw cause
    const without: number[] = []
    await readInParts({
      fids: await fids(),
      read: (only) => read({ only }),
      leftOut(fid, why) {
        without.push(fid)
        leftOut(fid, why)
      },
    })
    if (without.length === 0) throw cause
    return read({ without })
  }
}
