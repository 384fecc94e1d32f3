export interface Sample {
  readonly question: string
  readonly sql: string
}

/** A group of sample queries on one subject. */
export interface Subject {
  readonly title: string
  /** What the queries are about, in one sentence. */
  readonly about: string
  readonly samples: readonly Sample[]
}
