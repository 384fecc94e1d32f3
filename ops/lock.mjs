// @ts-check
// Plain JavaScript: scripts/ needs it before anything is installed that could read TypeScript.
import { createHash } from 'node:crypto'
import { connect, createServer } from 'node:net'

/** Length of a socket's address. Some versions of Node pad a shorter one and others do not, so all of it is used. */
const addressBytes = 108

/**
 * Runs `work` while no other process of this machine holds the same name; the others wait.
 *
 * The lock is a Linux abstract socket: the kernel gives it back when its holder ends, however it ends, so there is no
 * stale lock to clear. Elsewhere there is no such socket, and `work` runs without a lock.
 *
 * @template T
 * @param {{ name: string, waitMs: number, onWait?: () => void }} lock `onWait` is called once, when there is a wait
 * @param {() => Promise<T>} work
 * @returns {Promise<T>}
 * @throws when the lock is not free within `waitMs` milliseconds
 */
export async function withLock({ name, waitMs, onWait }, work) {
  if (process.platform !== 'linux') return work()
  const digest = createHash('sha256').update(name).digest('hex')
  const address = `\0agent-directory-${digest}`.padEnd(addressBytes, '-')
  const deadline = Date.now() + waitMs
  let waited = false
  for (;;) {
    const holder = await listen(address)
    if (holder) {
      try {
        return await work()
      } finally {
        holder.close()
      }
    }
    if (!waited) onWait?.()
    waited = true
    if (!(await untilReleased(address, Math.max(0, deadline - Date.now())))) {
      throw new Error(`another process has held the lock "${name}" for ${Math.round(waitMs / 1000)} seconds`)
    }
  }
}

/**
 * Whether a process of this machine holds the lock now.
 *
 * @param {string} name
 * @returns {Promise<boolean>}
 */
export async function isLocked(name) {
  let isHeld = false
  const onWait = () => {
    isHeld = true
  }
  await withLock({ name, waitMs: 0, onWait }, async () => {}).catch(() => {})
  return isHeld
}

/**
 * Takes the lock's address; undefined when another process holds it.
 * @param {string} address
 * @returns {Promise<{ close: () => void } | undefined>}
 */
function listen(address) {
  return new Promise((resolve, reject) => {
    const waiting = new Set()
    const server = createServer((socket) => {
      waiting.add(socket.on('error', () => {}))
    })
    server.once('error', (/** @type {NodeJS.ErrnoException} */ error) =>
      error.code === 'EADDRINUSE' ? resolve(undefined) : reject(error),
    )
    server.listen(address, () => {
      server.unref()
      resolve({
        close() {
          server.close()
          for (const socket of waiting) socket.destroy()
        },
      })
    })
  })
}

/**
 * Waits on a connection to the holder, which ends with the lock. False when the time is over first.
 * @param {string} address
 * @param {number} ms
 * @returns {Promise<boolean>}
 */
function untilReleased(address, ms) {
  return new Promise((resolve) => {
    const socket = connect(address)
    const timer = setTimeout(() => {
      resolve(false)
      socket.destroy()
    }, ms)
    socket.on('error', () => {})
    socket.on('close', () => {
      clearTimeout(timer)
      resolve(true)
    })
  })
}
