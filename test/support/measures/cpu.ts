/** Milliseconds of processor time that this thread spends on something, whatever else the machine does meanwhile. */
export function cpuMs(work: () => unknown): number {
  const before = process.threadCpuUsage()
  work()
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1_000
}
