import { connect as connectPlain, isIP, type LookupFunction, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { buildConnector } from 'undici'
import { DoorError } from './errors.ts'
import type { Target } from './target.ts'

/** Milliseconds that one address may stay silent before the next one is tried as well. */
const nextAddressMs = 1_000

/**
 * A connector for undici that connects to these judged addresses only; the host that undici passes is ignored.
 * Certificate and SNI go by the target's name. Aborting `signal` ends the attempt and the connection.
 *
 * Errors are DoorErrors, classed by how far the attempt came and not by error codes: `connect_error` before the TCP
 * connection stands, `tls_error` after it.
 */
export function connectorTo(
  target: Target,
  addresses: readonly string[],
  signal: AbortSignal,
): buildConnector.connector {
  return (_options, callback) => {
    const secure = target.url.protocol === 'https:'
    const socket = open(target, addresses, secure)
    // Before and after the attempt as well: an error of a socket that nobody listens to would end the process.
    socket.on('error', () => {})
    const abort = () => socket.destroy(signal.reason)
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort, { once: true })
    socket.once('close', () => signal.removeEventListener('abort', abort))

    let reached = false
    socket.once('connect', () => {
      reached = true
    })
    const fail = (cause: Error) => {
      socket.destroy()
      callback(cause instanceof DoorError ? cause : refused(target, reached, cause), null)
    }
    socket.once('error', fail)
    socket.once(secure ? 'secureConnect' : 'connect', () => {
      socket.off('error', fail)
      callback(null, socket)
    })
  }
}

function open({ hostname, port }: Target, addresses: readonly string[], secure: boolean): Socket {
  const options = {
    host: hostname,
    port,
    lookup: answerWith(addresses),
    autoSelectFamily: true, // RFC 8305: the next address is tried while one is silent
    autoSelectFamilyAttemptTimeout: nextAddressMs,
    noDelay: true,
  }
  if (!secure) return connectPlain(options)
  return connectTls({
    ...options,
    servername: isIP(hostname) === 0 ? hostname : '', // SNI carries names only (RFC 6066 3)
    ALPNProtocols: ['http/1.1'],
    minVersion: 'TLSv1.2',
    rejectUnauthorized: true, // whatever NODE_TLS_REJECT_UNAUTHORIZED says
  })
}

/**
 * Answers in a later tick, as a resolver does: answered at once, a host without a route fails inside `connect`, which
 * then throws on a socket that nobody listens to yet.
 */
function answerWith(addresses: readonly string[]): LookupFunction {
  const answer = addresses.map((address) => ({ address, family: isIP(address) }))
  return (_hostname, _options, callback) => process.nextTick(callback, null, answer)
}

function refused({ hostname, port }: Target, reached: boolean, cause: Error): DoorError {
  const detail = cause.message || (cause as NodeJS.ErrnoException).code // an AggregateError has a code only
  return reached
    ? new DoorError('tls_error', `${hostname}:${port} has no TLS we trust: ${detail}`, { cause })
    : new DoorError('connect_error', `${hostname}:${port} cannot be reached: ${detail}`, { cause })
}
