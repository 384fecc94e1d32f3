/** Notices walks along page tokens that go in a circle, one walk per shard. */
interface CircleWatch {
  /** Whether the token `next` of the page at `from` was named before in this walk; an empty `from` begins a new one. */
  closes(shard: number, from: string, next: string | undefined): boolean
}

interface Walk {
  /** The one token that later ones are compared with. */
  kept: string
  last: string
  steps: number
  span: number
}

/**
 * Keeps one token a walk, replaced after 1, 2, 4, 8, … steps (Brent's method): however long the list is, a circle is
 * noticed before it was gone around three times.
 */
export function createCircleWatch(): CircleWatch {
  const walks = new Map<number, Walk>()
  return {
    closes(shard, from, next) {
      const walk = (from !== '' && walks.get(shard)) || { kept: from, last: from, steps: 0, span: 1 }
      walks.set(shard, walk)
      if (next === undefined || next === walk.last) return false // the same page, asked for again
      if (next === walk.kept) return true
      walk.last = next
      if (++walk.steps === walk.span) Object.assign(walk, { kept: next, steps: 0, span: walk.span * 2 })
      return false
    },
  }
}
