/** Self-signed certificates for tests of TLS, made without a program of the system. */
import { generateKeyPairSync, sign } from 'node:crypto'

const DER = { integer: 0x02, bits: 0x03, octets: 0x04, oid: 0x06, text: 0x0c, time: 0x17, sequence: 0x30, set: 0x31 }
/** Context-specific tags of a certificate: version, extensions, and an alternative name of the kind DNS. */
const VERSION = 0xa0
const EXTENSIONS = 0xa3
const DNS_NAME = 0x82

const OID = {
  ecdsaWithSha256: [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02],
  commonName: [0x55, 0x04, 0x03],
  alternativeNames: [0x55, 0x1d, 0x11],
}

function der(tag: number, ...parts: (Buffer | number[])[]): Buffer {
  const content = Buffer.concat(parts.map((part) => Buffer.from(part)))
  const { length } = content
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255]
  return Buffer.concat([Buffer.from([tag, ...size]), content])
}

const time = (text: string) => der(DER.time, Buffer.from(text))

/** For one host name, valid until 2049. Certificate and key in PEM. */
export function selfSignedCertificate(host: string): { certificate: string; key: string } {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const algorithm = der(DER.sequence, der(DER.oid, OID.ecdsaWithSha256))
  const name = der(
    DER.sequence,
    der(DER.set, der(DER.sequence, der(DER.oid, OID.commonName), der(DER.text, Buffer.from(host)))),
  )
  const alternativeNames = der(DER.octets, der(DER.sequence, der(DNS_NAME, Buffer.from(host))))
  const content = der(
    DER.sequence,
    der(VERSION, der(DER.integer, [2])),
    der(DER.integer, [1]),
    algorithm,
    name,
    der(DER.sequence, time('200101000000Z'), time('490101000000Z')),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(EXTENSIONS, der(DER.sequence, der(DER.sequence, der(DER.oid, OID.alternativeNames), alternativeNames))),
  )
  const signature = der(DER.bits, [0], sign('sha256', content, privateKey))
  const certificate = der(DER.sequence, content, algorithm, signature).toString('base64')
  return {
    certificate: `-----BEGIN CERTIFICATE-----\n${certificate.match(/.{1,64}/g)?.join('\n')}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  }
}
