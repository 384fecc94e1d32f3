// @ts-check
import { existsSync } from 'node:fs'
import { dirname, extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ensureInstalled } from './install.mjs'
import { runChild } from './run.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
/** What the packages need when the pinned Node cannot be installed: undici asks for the most. */
const lowestOwnNode = [22, 19]

/**
 * Installs what is missing, then runs the entry to its end and ends as it ended.
 * @param {string[]} args the entry, relative to the project, and its arguments
 */
export async function launch([entry, ...args]) {
  try {
    if (!entry || !existsSync(join(root, entry))) {
      throw new Error(`usage: node scripts/bootstrap.mjs <entry> [arguments]; there is no entry ${entry ?? ''}`.trim())
    }
    await ensureInstalled(root)
    // Only TypeScript needs the loader, which costs a quarter of a second.
    const loader = extname(entry) === '.ts' ? ['--import', 'tsx'] : []
    await runChild(findNode(), [...loader, join(root, entry), ...args], { endLikeChild: true })
  } catch (error) {
    process.stderr.write(`${/** @type {Error} */ (error).message}\n`)
    process.exitCode = 1
  }
}

function findNode() {
  const pinned = join(root, 'node_modules/.bin/node')
  if (existsSync(pinned)) return pinned
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  const [lowestMajor = 0, lowestMinor = 0] = lowestOwnNode
  if (major > lowestMajor || (major === lowestMajor && minor >= lowestMinor)) return process.execPath
  throw new Error(
    `the pinned Node is not available for ${process.platform}-${process.arch}; ` +
      `install Node ${lowestOwnNode.join('.')} or newer (this is Node ${process.versions.node})`,
  )
}
