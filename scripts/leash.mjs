// @ts-check
// Preloaded by run.mjs: ends this process in order (SIGTERM) when the one that started it is gone, even by kill -9.
import { Socket } from 'node:net'

const text = process.env.BOOTSTRAP_LEASH
if (text) {
  // The children of this process are not on this leash: they must see the environment as it was.
  delete process.env.BOOTSTRAP_LEASH
  const { fd, nodeOptions, wholeGroup } = JSON.parse(text)
  if (nodeOptions === null) delete process.env.NODE_OPTIONS
  else process.env.NODE_OPTIONS = nodeOptions
  const leash = new Socket({ fd, readable: true, writable: false })
  leash.on('error', () => {})
  leash.on('close', () => process.kill(wholeGroup ? -process.pid : process.pid, 'SIGTERM'))
  leash.resume()
  leash.unref() // an otherwise finished process must be able to end
}
