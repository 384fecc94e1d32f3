import { createHash } from 'node:crypto'

/** Texts of a process that have a name: the plan of each is two megabytes of the server's memory on every connection. */
const mostKept = 8
const names = new Map<string, string>()

/**
 * The statement under a name made of its text, so that each connection keeps its plan: where a statement names all
 * partitions of settlements, planning takes longer than reading. For texts that want one plan whatever their values are, as
 * those that look rows up by an address they find themselves. Texts beyond the first few are planned each time: whoever
 * asks for odd ones first costs the others speed and no memory.
 */
export function withKeptPlan<T extends { readonly text: string }>(statement: T): T & { name?: string | undefined } {
  const { text } = statement
  if (!names.has(text) && names.size < mostKept) names.set(text, createHash('md5').update(text).digest('hex'))
  return { ...statement, name: names.get(text) }
}
