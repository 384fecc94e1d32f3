import { inject } from 'vitest'

declare module 'vitest' {
  interface ProvidedContext {
    /** Whether tests run all of their rounds, as in `npm run test:endurance`. */
    endurance: boolean
  }
}

/** How often a test repeats itself: a few times in `npm test`, as often as docs/testing.md says in an endurance run. */
export function rounds(few: number, all: number): number {
  return inject('endurance') ? all : few
}
