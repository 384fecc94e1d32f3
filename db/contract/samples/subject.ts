export interface Sample {
  readonly question: string
  readonly sql: string
}

/** Questions that belong together. */
export interface Subject {
  readonly title: string
  /** What they are about, in a sentence. */
  readonly about: string
  readonly samples: readonly Sample[]
}
