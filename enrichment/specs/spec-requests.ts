import { second } from '../../ops/time.ts'

/** Bounds of every request to an agent's own host. `timeoutMs` is in milliseconds; `ports` are those beside 443. */
export const specRequests = { timeoutMs: 10 * second, ports: [8443] }
