import { generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'

export interface Identity {
  readonly name: string
  readonly key: KeyObject
  /** PEM of both, as `tls.createServer` takes them. */
  readonly pem: { readonly key: string; readonly cert: string }
}

const day = 86_400_000

/**
 * A key and an X.509 certificate for `name`, signed by `issuer` (by itself without one), valid from `days[0]` to
 * `days[1]` days from now. Node signs but does not build certificates, so this writes the DER. Source: RFC 5280 4.1.
 */
export function issueCertificate(name: string, issuer?: Identity, days: [number, number] = [-1, 30]): Identity {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const time = (offset: number) => der(0x18, generalized(new Date(Date.now() + offset * day)))
  const algorithm = sequence(oid(1, 2, 840, 10045, 4, 3, 2)) // ecdsa-with-SHA256
  const body = sequence(
    der(0xa0, integer(Buffer.of(2))), // version 3
    integer(Buffer.concat([Buffer.of(1), randomBytes(8)])),
    algorithm,
    distinguishedName(issuer?.name ?? name),
    sequence(time(days[0]), time(days[1])),
    distinguishedName(name),
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(authority(issuer === undefined), alternativeName(name))),
  )
  const signature = sign('sha256', body, issuer?.key ?? privateKey)
  const certificate = sequence(body, algorithm, der(0x03, Buffer.concat([Buffer.of(0), signature])))
  return {
    name,
    key: privateKey,
    pem: { key: String(privateKey.export({ type: 'pkcs8', format: 'pem' })), cert: toPem(certificate) },
  }
}

const toPem = (bytes: Buffer) =>
  `-----BEGIN CERTIFICATE-----\n${bytes.toString('base64').replace(/.{64}(?=.)/g, '$&\n')}\n-----END CERTIFICATE-----\n`

const authority = (is: boolean) =>
  sequence(oid(2, 5, 29, 19), der(0x04, sequence(...(is ? [der(0x01, Buffer.of(0xff))] : []))))
const alternativeName = (name: string) => sequence(oid(2, 5, 29, 17), der(0x04, sequence(der(0x82, Buffer.from(name)))))
const distinguishedName = (name: string) => sequence(der(0x31, sequence(oid(2, 5, 4, 3), der(0x0c, Buffer.from(name)))))
const generalized = (date: Date) => Buffer.from(`${date.toISOString().slice(0, 19).replace(/[-T:]/g, '')}Z`)

function der(tag: number, content: Buffer): Buffer {
  const { length } = content
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.of(tag, ...size), content])
}

const sequence = (...parts: Buffer[]) => der(0x30, Buffer.concat(parts))
const integer = (bytes: Buffer) => der(0x02, bytes)

function oid(first: number, second: number, ...rest: number[]): Buffer {
  const groups = rest.flatMap((part) => {
    const digits = [part & 0x7f]
    for (let left = part >> 7; left > 0; left >>= 7) digits.unshift((left & 0x7f) | 0x80)
    return digits
  })
  return der(0x06, Buffer.of(first * 40 + second, ...groups))
}
