export interface Sample {
  readonly question: string
  /** Of what there are more rows to read when there is more of it; whatever else grows makes it no slower. */
  readonly growsWith: string
  readonly sql: string
}

/** A group of sample queries on one subject. */
export interface Subject {
  readonly title: string
  /** What the queries are about, in one sentence. */
  readonly about: string
  readonly samples: readonly Sample[]
}
