/** Thrown out of a start that was interrupted. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted'
}

interface Stoppable {
  stop(): Promise<void>
  /** Ends the resource without waiting, on a second Ctrl-C. Absent: it ends with this process. */
  kill?(): void
}

/** What has been started, to be stopped in the opposite order. */
export class Teardown {
  private readonly owned: Stoppable[] = []
  private readonly kills: (() => void)[] = []
  private readonly interruption = new AbortController()

  /** Aborted by the first stop signal, or by a failure of this process. */
  get signal(): AbortSignal {
    return this.interruption.signal
  }

  /** Takes ownership of a resource just started. After an interruption it stops it at once and throws Interrupted. */
  async own<T extends Stoppable>(resource: T): Promise<T> {
    if (this.signal.aborted) {
      await resource.stop()
      throw new Interrupted()
    }
    this.owned.push(resource)
    return resource
  }

  /**
   * Registers a database server's process, to be ended on a second Ctrl-C: it may still be starting, and it would
   * outlive this process.
   */
  readonly endServer = (pid: number) => {
    this.kills.push(() => process.kill(pid, 'SIGTERM')) // to Postgres: end once nobody is connected
  }

  interrupt() {
    this.interruption.abort(new Interrupted())
  }

  /** Stops everything, also when stopping one thing fails; then throws that failure. */
  async stopAll() {
    const failures: unknown[] = []
    for (const one of [...this.owned].reverse()) await one.stop().catch((error) => failures.push(error))
    if (failures.length > 0) throw failures[0]
  }

  killAll() {
    for (const kill of [...this.owned.map((one) => () => one.kill?.()), ...this.kills]) {
      try {
        kill()
      } catch {
        // gone already; the others still have to be killed
      }
    }
  }
}

/**
 * Starts, waits for SIGINT, SIGTERM or SIGHUP, and stops whatever was started, also when the start fails or is
 * interrupted half-way. When this process fails later, it stops everything and throws that failure. A second SIGINT
 * kills everything and calls `exit`, which has to end this process; a second SIGTERM changes nothing.
 */
export async function untilSignalled(
  start: (teardown: Teardown) => Promise<void>,
  { onStop, exit }: { onStop: () => void; exit: () => never },
): Promise<void> {
  const teardown = new Teardown()
  const onSignal = (signal: NodeJS.Signals) => {
    if (teardown.signal.aborted) {
      if (signal !== 'SIGINT') return
      teardown.killAll()
      exit()
    }
    teardown.interrupt()
    onStop()
  }
  let failure: Error | undefined
  const onFailure = (error: Error) => {
    failure ??= error
    teardown.interrupt()
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, onSignal)
  process.on('uncaughtException', onFailure)
  // The reader of the output may go away (`npm start | head`); that must not end this process.
  process.stdout.on('error', () => {})
  process.stderr.on('error', () => {})
  try {
    await start(teardown)
    await new Promise<void>((resolve) => {
      if (teardown.signal.aborted) resolve()
      teardown.signal.addEventListener('abort', () => resolve(), { once: true })
    })
  } catch (error) {
    if (!teardown.signal.aborted) throw error // an interrupted start may fail in any way
  } finally {
    await teardown.stopAll()
  }
  if (failure) throw failure
}

/** Awaits both. When one fails, throws its failure only once the other has settled, so that it can be stopped. */
export async function bothSettled<A, B>(one: Promise<A>, other: Promise<B>): Promise<[A, B]> {
  const [a, b] = await Promise.allSettled([one, other])
  if (a.status === 'rejected') throw a.reason
  if (b.status === 'rejected') throw b.reason
  return [a.value, b.value]
}
