// API schema of the facts about the installation that need no credential (contract 37).
import Type from 'typebox';
import { signInKinds } from '../model/user.ts';
import { namedObject } from './named.ts';
import { list, oneOf, orNull, text } from './record-fields.ts';

const isSet = (description: string) => Type.Boolean({ description });

export const aboutSchema = namedObject('About', {
  name: text,
  version: Type.String({ description: 'Of the program' }),
  signedIn: isSet('Whether the request has a valid cookie, API key or token'),
  signInKinds: list(oneOf(signInKinds)),
  provider: orNull(
    Type.Object({ label: text }, { description: 'Signs users in; see /v3/auth/oidc/start' }),
  ),
  firstRun: isSet('Whether no device has been created yet'),
  features: Type.Object({
    mail: isSet('Whether mails are sent, which invitations and lost passwords use'),
    sms: isSet('Whether short messages are sent'),
    mqtt: isSet('Whether devices can use MQTT'),
    coap: isSet('Whether devices can use CoAP'),
    tiles: isSet('Whether the installation has map tiles'),
  }),
  ports: Type.Object(
    { mqtt: orNull(Type.Integer()), coap: orNull(Type.Integer()) },
    { description: 'On which the server takes payloads of devices; null: not at all' },
  ),
  mapTiles: orNull(
    Type.Object(
      {
        url: Type.String({ description: 'Address of a tile, with {z}, {x} and {y} in it' }),
        attribution: Type.String({ description: 'Shown on every map, as plain words' }),
      },
      {
        description: 'Where browsers load street maps; null: maps show the outline of the console',
      },
    ),
  ),
  timezone: Type.String({ description: 'IANA name of the time zone of the server' }),
});
