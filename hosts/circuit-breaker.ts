/** Failures in a row that open the circuit. */
const failuresInRow = 10
/** Size of the window of latest outcomes: the circuit also opens when more than half of a full window failed. */
const remembered = 20
const firstBreakMs = 60_000
const longestBreakMs = 30 * 60_000

/** Keeps requests from a host that fails: each failed probe doubles the time for which its circuit stays open. */
interface CircuitBreaker {
  /** When the circuit closes again, in milliseconds of the clock; in the past: it is closed. */
  openUntil(): number
  /** Whether it has been open and no request has succeeded since: the next one probes the host. */
  isProbing(): boolean
  succeeded(): void
  failed(): void
}

/** `time` is the clock, in milliseconds. */
export function createCircuitBreaker(time: () => number): CircuitBreaker {
  let openUntil = 0
  let breakMs = 0
  let outcomes: boolean[] = []
  const note = (succeeded: boolean) => {
    outcomes = [...outcomes, succeeded].slice(-remembered)
  }
  return {
    openUntil: () => openUntil,
    isProbing: () => breakMs > 0,
    succeeded() {
      breakMs = 0
      note(true)
    },
    failed() {
      if (openUntil > time()) return
      note(false)
      const latest = outcomes.slice(-failuresInRow)
      const rowFailed = latest.length === failuresInRow && !latest.includes(true)
      const mostFailed = outcomes.length === remembered && outcomes.filter((good) => !good).length > remembered / 2
      if (breakMs === 0 && !rowFailed && !mostFailed) return
      breakMs = breakMs === 0 ? firstBreakMs : Math.min(longestBreakMs, breakMs * 2)
      openUntil = time() + breakMs
      outcomes = []
    },
  }
}
