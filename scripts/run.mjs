// @ts-check
import { spawn } from 'node:child_process'

/** Preloaded into the child: ends it when this process is gone. */
const leash = new URL('./leash.mjs', import.meta.url)
/** A terminal signals npm and this process alike, and npm passes its copy on: the second within this time is an echo. */
const echoMs = 500
/** How often this process looks whether npm, its parent, still lives. */
const parentCheckMs = 500
const passedOn = /** @type {const} */ (['SIGINT', 'SIGTERM'])

/**
 * Runs a Node program to its end, with this terminal, passing on each signal once.
 *
 * The child has a session of its own, because a terminal would signal it next to us; it cannot outlive us all the same:
 * it is asked to stop (SIGTERM) when this process or npm above it is killed.
 *
 * @param {string} command node, or a script that node runs
 * @param {string[]} args
 * @param {{ cwd?: string, env?: NodeJS.ProcessEnv, isTool?: boolean, endLikeChild?: boolean }} [options]
 *   `isTool`: none of its output reaches standard output, and signals go to its whole process group, because it does
 *   not pass them on itself; `endLikeChild`: this process takes over its exit code or signal
 * @returns {Promise<{ code: number | null, signal: NodeJS.Signals | null }>}
 */
export function runChild(command, args, { cwd, env = process.env, isTool = false, endLikeChild = false } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd,
      // Through the environment, so that it works for npm too, which is a script that finds its own node.
      env: {
        ...env,
        NODE_OPTIONS: `${env.NODE_OPTIONS ?? ''} --import=${leash.href}`.trim(),
        BOOTSTRAP_LEASH: JSON.stringify({ fd: 3, nodeOptions: env.NODE_OPTIONS ?? null, wholeGroup: isTool }),
      },
      stdio: [isTool ? 'ignore' : 'inherit', isTool ? 2 : 'inherit', 'inherit', 'pipe'],
      detached: true,
    })
    child.stdio[3]?.on('error', () => {}) // the child closes its end when it ends

    /** @type {Map<NodeJS.Signals, number>} */
    const lastPassed = new Map()
    const passOn = (/** @type {NodeJS.Signals} */ signal) => {
      const now = Date.now()
      if (now - (lastPassed.get(signal) ?? 0) < echoMs) return
      lastPassed.set(signal, now)
      try {
        process.kill(isTool ? -Number(child.pid) : Number(child.pid), signal)
      } catch {
        // it has just ended by itself
      }
    }
    for (const signal of passedOn) process.on(signal, passOn)

    const parent = process.ppid
    const parentCheck = setInterval(() => {
      // Outside npm a parent may leave on purpose (a shell that starts this in the background).
      if (!process.env.npm_lifecycle_event || process.ppid === parent) return
      clearInterval(parentCheck)
      passOn('SIGTERM')
    }, parentCheckMs)
    parentCheck.unref()

    const release = () => {
      clearInterval(parentCheck)
      for (const signal of passedOn) process.off(signal, passOn)
    }
    child.once('error', (error) => {
      release()
      reject(new Error(`${command} does not start: ${error.message}`))
    })
    child.once('exit', (code, signal) => {
      release()
      if (endLikeChild) {
        if (signal) process.kill(process.pid, signal)
        else process.exitCode = code ?? 1
      }
      resolve({ code, signal })
    })
  })
}
