/** The part of autocannon 9 that the benchmarks use; the package brings no types. */
declare module 'autocannon' {
  interface Options {
    url: string
    connections: number
    /** Seconds. */
    duration: number
    requests: readonly Request[]
    setupClient: (client: { setRequests(requests: readonly Request[]): void }) => void
  }
  interface Request {
    path: string
    headers?: Record<string, string>
  }
  interface Result {
    requests: { average: number; total: number }
    /** Milliseconds. */
    latency: { p99: number }
    /** Number of answers by status code. */
    statusCodeStats: Record<string, { count: number }>
    errors: number
    timeouts: number
  }
  export default function autocannon(options: Options): Promise<Result>
}
