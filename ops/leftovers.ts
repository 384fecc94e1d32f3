import { mkdtemp, readdir, readlink } from 'node:fs/promises'
import { join } from 'node:path'

/** Id of this process's PID namespace, 0 where unknown: a process id means nothing in another container. */
async function namespace(): Promise<string> {
  return /\d+/.exec(await readlink('/proc/self/ns/pid').catch(() => ''))?.[0] ?? '0'
}

/** Makes a folder in `place`, named by `prefix` and by the process that owns it, by default this one. */
export async function folderOfProcess(place: string, prefix: string, pid = process.pid): Promise<string> {
  return mkdtemp(join(place, `${prefix}-${await namespace()}-${pid}-`))
}

/** Folders of `folderOfProcess` in `place` whose process is gone. */
export async function foldersLeft(place: string, prefix: string): Promise<string[]> {
  const named = new RegExp(`^${prefix}-(\\d+)-(\\d+)-`)
  const here = await namespace()
  const left: string[] = []
  for (const name of await readdir(place).catch(() => [])) {
    const [, at, pid] = named.exec(name) ?? []
    if (pid !== undefined && at === here && !isRunning(Number(pid))) left.push(join(place, name))
  }
  return left
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
