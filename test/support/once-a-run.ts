const made = Symbol.for('what the projects of this test run share')
const shared = globalThis as { [made]?: Map<string, Promise<unknown>> }

/**
 * What was made under this name, or makes it. vitest sets every project of a run up for itself, each with modules of its
 * own: what is the same for all of them is kept beside the modules.
 */
export function onceARun<T>(name: string, make: () => Promise<T>): Promise<T> {
  shared[made] ??= new Map()
  const known = shared[made].get(name) as Promise<T> | undefined
  if (known) return known
  const making = make()
  shared[made].set(name, making)
  return making
}
