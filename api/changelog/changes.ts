/** A change of the API that a client can notice. */
export interface ApiChange {
  /** Unique and permanent: the last part of the change's URL. */
  readonly id: string
  /** UTC day of the change: `2026-11-22`. */
  readonly day: string
  readonly kind: 'added' | 'changed' | 'deprecated' | 'removed'
  readonly title: string
  readonly text: string
  /** `operationId`s of the requests that are new or changed. */
  readonly operations: readonly string[]
}

/** What changed for clients, newest first: /docs/changelog, /feed/api.atom and CHANGELOG.md are made of it. */
export const apiChanges: readonly ApiChange[] = [
  {
    id: 'first-release',
    day: '2026-11-29',
    kind: 'added',
    title: 'The first release',
    text: 'The whole API is new: /docs has all its requests, and /openapi.json describes them.',
    operations: [],
  },
]
