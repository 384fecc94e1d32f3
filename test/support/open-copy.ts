import { chmod, copyFile, cp, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))

interface OpenCopy {
  readonly folder: string
  /** Path of a copy of this Node that every user may run. */
  readonly node: string
  remove(): Promise<void>
}

/**
 * Copies parts of the project, and the packages they need, to a folder that every user may read, because the project
 * itself may lie in a home folder that is closed to other users.
 */
export async function openCopy(parts: string[], packages: string[] = []): Promise<OpenCopy> {
  const folder = await mkdtemp(join(tmpdir(), 'agent-directory-copy-'))
  await chmod(folder, 0o755)
  const node = join(folder, 'node')
  await copyFile(process.execPath, node)
  await chmod(node, 0o755)
  for (const part of [...parts, ...(await withDependencies(packages))]) {
    await mkdir(dirname(join(folder, part)), { recursive: true, mode: 0o755 })
    await cp(join(root, part), join(folder, part), { recursive: true, verbatimSymlinks: true })
  }
  return { folder, node, remove: () => rm(folder, { recursive: true, force: true }) }
}

/** Folders of the packages and of all they depend on; those installed inside another one come with it. */
async function withDependencies(packages: string[]): Promise<Set<string>> {
  const folders = new Set<string>()
  const queue = [...packages]
  for (let name = queue.shift(); name !== undefined; name = queue.shift()) {
    const folder = `node_modules/${name}`
    if (folders.has(folder)) continue
    const manifest = JSON.parse(await readFile(join(root, folder, 'package.json'), 'utf8'))
    folders.add(folder)
    queue.push(...Object.keys(manifest.dependencies ?? {}))
  }
  return folders
}
