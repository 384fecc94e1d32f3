/** Called for each agent that cannot be shown and is left out of the answer. */
export type LeftOut = (fid: number, cause: unknown) => void

/** Statements that one request may spend on finding agents that cannot be shown; the next request finds the rest. */
const mostStatements = 400

const codeOf = (cause: unknown) => String((cause as { code?: unknown } | null)?.code)

/** Whether an error is caused by the rows read and not by the database, so that a read of other rows may succeed. */
export const isOfRows = (cause: unknown) => /^(22|54|P0|XX)...$/.test(codeOf(cause)) // data, limits, raised, internal

/** Whether a statement timed out, so that it may succeed with fewer rows. */
export const isTooSlow = (cause: unknown) => codeOf(cause) === '57014'

interface Parts<T> {
  readonly fids: readonly number[]
  readonly read: (fids: readonly number[]) => Promise<T>
  readonly leftOut: LeftOut
}

/** Reads agents in parts. A part that fails is halved, until only the agents that cannot be shown are left out. */
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

/** Agents of a list to show: only these, or all but these. */
export type Choice = { readonly only: readonly number[] } | { readonly without: readonly number[] }
export const everyone: Choice = { without: [] }

/** SQL condition for a choice on a column of FIDs, with the parameter that holds the FIDs; empty: all are shown. */
export function chosen(choice: Choice, column: string, parameter: string): string {
  if ('only' in choice) return `where ${column} = any (${parameter}::bigint[])`
  return choice.without.length === 0 ? '' : `where ${column} <> all (${parameter}::bigint[])`
}

/** Parameter values for `chosen`: one list of FIDs, or none when all are shown. */
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
