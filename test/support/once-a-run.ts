const made = Symbol.for('what the projects of this test run share')
const shared = globalThis as { [made]?: Map<string, Promise<unknown>> }

/**
 * The value made under this name, made on the first call of a run. vitest sets up every project of a run separately,
 * each with its own module instances, so what they share is kept outside the modules.
 */
export function onceARun<T>(name: string, make: () => Promise<T>): Promise<T> {
  shared[made] ??= new Map()
  const known = shared[made].get(name) as Promise<T> | undefined
  if (known) return known
  const making = make()
  shared[made].set(name, making)
  return making
}
