// Routes of passkeys: created, renamed and removed by their user, and used to sign in.
import { Passkeys } from '../../access/passkeys.ts';
import { passkeys } from '../../contract/sign-in.ts';
import { Answer, type Route, route } from '../edge/route.ts';
import type { SignIn } from './sign-in.ts';

export function passkeyRoutes(own: SignIn): Route[] {
  const kept = new Passkeys(own.records, own.now, own.publicUrl);
  return [...ownRoutes(own, kept), ...loginRoutes(own, kept)];
}

function ownRoutes(own: SignIn, kept: Passkeys): Route[] {
  return [
    route(passkeys.begin, async ({ body: { password }, ip }, principal) => {
      const user = await own.ownerOf(ip, principal, password);
      return kept.begin(user);
    }),
    route(passkeys.create, async (input, principal) => {
      own.needLocalSignIn();
      const created = await kept.create(principal, input.body);
      await own.audit(input, principal, 'UPDATE', { field: 'passkey', after: input.body.name });
      return new Answer(201, created);
    }),
    route(passkeys.rename, ({ params: { id }, body: { name } }, { id: userId }) =>
      kept.rename({ id, userId, name }),
    ),
    route(passkeys.remove, async (input, principal) => {
      const { ip, body, params } = input;
      const user = await own.ownerOf(ip, principal, body.password);
      await kept.remove({ id: params.id, userId: user.id });
      await own.audit(input, principal, 'UPDATE', { field: 'passkey', before: params.id });
    }),
  ];
}

/** A passkey is two factors: the device, and the finger, face or PIN that it asks for. */
function loginRoutes(own: SignIn, kept: Passkeys): Route[] {
  return [
    route(passkeys.request, async () => {
      own.needLocalSignIn();
      return kept.beginSignIn();
    }),
    route(passkeys.login, async (input) => {
      own.needLocalSignIn();
      const { body, ip } = input;
      const verify = kept.verifierOf(body.ticket);
      // A refused one is an error, which uses up an attempt of the network.
      const passkey = await own.attempts.run(
        { ip },
        () => verify(body.passkey),
        () => false,
      );
      const user = await own.accounts.ofPasskey(passkey);
      const { organizationId } = body;
      return own.signedIn(input, { user, organizationId, signInKind: 'PASSKEY' });
    }),
  ];
}
