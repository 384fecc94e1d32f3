/** Rows that the history source does not have and the node confirms, or too many to remove: all stay as they are. */
export class DisputedRows extends Error {
  override readonly name = 'DisputedRows'
  constructor(
    message: string,
    readonly rows: number,
  ) {
    super(message)
  }
}

/** Disputed rows after which no further ones are looked for. */
export const enoughDisputed = 100

/** Rows that one audit may remove however few its blocks have, the share above that, and the most it may ever remove. */
const alwaysRemovable = 10
const removableShare = 0.01
const mostRemovable = 100

/** Whether an audit would remove more of the stored rows than can be a node's mistake. `stored` counts them. */
export async function areTooMany(removed: number, stored: () => Promise<number>): Promise<boolean> {
  if (removed <= alwaysRemovable) return false
  return removed > Math.min(mostRemovable, removableShare * (await stored()))
}
