/** Rows whose coming, change or going makes keys due. */
export interface Mark {
  readonly table: string
  /** Default: all three. */
  readonly on?: readonly MarkEvent[]
  /** SQL of the key, over `moved`: rows as they became, or as they were when they are deleted. */
  readonly key: string
  /**
   * SQL behind `from`: what leads from the rows to keys, or leaves rows out. It may name `were` too: rows as they were
   * before an update. Default: moved.
   */
  readonly from?: string
}

export type MarkEvent = 'insert' | 'update' | 'delete'

/** Rows that have all keys of a kind. */
export interface KeyRows {
  /** SQL behind `from`. */
  readonly table: string
  /** SQL of the key. */
  readonly key: string
}

export interface Kind {
  readonly marks: readonly Mark[]
  /** Where all its keys are, to derive everything again. None where other kinds make all that matter due. */
  readonly all: readonly KeyRows[]
  /**
   * SQL condition on a mark `d`, of kinds that what is archived has to wait for: whether it is about the chain `archive.chain` and
   * times up to `archive.until`, or blocks up to `archive.block`.
   */
  readonly beforeArchive?: string
}

/** SQL: the hex digits of a column of bytes, as keys have them. */
export function hex(column: string): string {
  return `encode(${column}, 'hex')`
}
