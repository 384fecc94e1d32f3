import { createHash } from 'node:crypto'

/** Statements per process that get a name: each plan takes two megabytes of server memory on every connection. */
const mostKept = 8
const names = new Map<string, string>()

/**
 * Names a statement after its text, so that each connection keeps its plan: for a statement over all partitions of
 * settlements, planning takes longer than reading. Use it where one plan suits all values, as when rows are looked up
 * by addresses that the statement itself finds. Texts beyond the first few get no name and are planned each time, so
 * that a client that sends many odd filters costs the others speed but no memory.
 */
export function withKeptPlan<T extends { readonly text: string }>(statement: T): T & { name?: string | undefined } {
  const { text } = statement
  if (!names.has(text) && names.size < mostKept) names.set(text, createHash('md5').update(text).digest('hex'))
  return { ...statement, name: names.get(text) }
}
