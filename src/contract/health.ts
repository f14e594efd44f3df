// Endpoints of health and metrics.
import Type from 'typebox';
import { endpoint } from './endpoint.ts';
import { list, namedObject, oneOf, orNull, text } from './schema-parts.ts';
import { signInKinds } from '../model/user.ts';

const healthSchema = namedObject('Health', {
  status: Type.Union([Type.Literal('UP'), Type.Literal('DOWN')]),
  reason: Type.Optional(Type.String()),
  notes: Type.Optional(
    Type.Array(Type.String(), {
      description: 'Warnings while the platform is ready.',
    }),
  ),
});

export const health = {
  live: endpoint({
    method: 'GET',
    path: '/health/live',
    summary: 'Liveness probe',
    description: 'Returns 200 while the process is running.',
    tag: 'Operation',
    access: { open: 'No authentication.' },
    response: healthSchema,
  }),
  ready: endpoint({
    method: 'GET',
    path: '/health/ready',
    summary: 'Readiness probe',
    description: 'Returns 200 when the platform can serve requests, or 503 with the reason.',
    tag: 'Operation',
    access: { open: 'No authentication.' },
    response: healthSchema,
    otherAnswers: { 503: healthSchema },
  }),
  metrics: endpoint({
    method: 'GET',
    path: '/metrics',
    summary: 'Get Prometheus metrics',
    description: 'Returns counters, gauges, and histograms in the Prometheus text format.',
    tag: 'Operation',
    access: {
      open: 'No authentication, unless METRICS_TOKEN is set.',
    },
    answerTypes: { 'text/plain': Type.String() },
  }),
} as const;

// Schemas and endpoints of the facts about the installation that need no credential (contract 37).

const isSet = (description: string) => Type.Boolean({ description });

export const aboutSchema = namedObject('About', {
  name: text,
  version: Type.String({ description: 'Program version.' }),
  signedIn: isSet('Whether the request carries a valid session cookie, API key, or access token.'),
  signInKinds: list(oneOf(signInKinds)),
  provider: orNull(
    Type.Object(
      { label: text },
      { description: 'Identity provider for sign-in. See `/v3/auth/oidc/start`.' },
    ),
  ),
  firstRun: isSet('Whether no devices have been created yet.'),
  features: Type.Object({
    mail: isSet('Whether email is configured. Invitations and password resets need it.'),
    sms: isSet('Whether SMS is configured.'),
    mqtt: isSet('Whether MQTT is enabled.'),
    coap: isSet('Whether CoAP is enabled.'),
    tiles: isSet('Whether map tiles are configured.'),
  }),
  ports: Type.Object(
    { mqtt: orNull(Type.Integer()), coap: orNull(Type.Integer()) },
    { description: 'Ports for device payloads by protocol, null when disabled.' },
  ),
  mapTiles: orNull(
    Type.Object(
      {
        url: Type.String({ description: 'Tile URL template with `{z}`, `{x}`, and `{y}`.' }),
        attribution: Type.String({ description: 'Attribution text shown on every map.' }),
      },
      {
        description: 'Street map tiles, or null to use the built-in outline.',
      },
    ),
  ),
  timezone: Type.String({ description: 'IANA time zone of the server.' }),
});

export const about = {
  read: endpoint({
    method: 'GET',
    path: '/v3/about',
    summary: 'Get installation info',
    description:
      'Returns the name, version, and enabled features of the installation, and whether the caller is signed in.',
    tag: 'Sign-in',
    access: { open: 'No authentication.' },
    response: aboutSchema,
  }),
} as const;
