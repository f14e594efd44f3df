// Signing in again: a session that ended while the page was open is begun anew over the page.
import { endedSession } from '../api/platform.ts';
import { createWatchedValue } from '../api/watched-value.ts';

class SigningIn {
  readonly isAsked = createWatchedValue(false);
  #answers: ((isSignedIn: boolean) => void)[] = [];

  /** Called by the part that shows the form; returns how to take it back. */
  offer(): () => void {
    endedSession.begin = () => {
      this.isAsked.set(true);
      // Several requests at once ask once.
      return new Promise((resolve) => this.#answers.push(resolve));
    };
    return () => {
      delete endedSession.begin;
      this.end(false);
    };
  }

  end(isSignedIn: boolean): void {
    this.isAsked.set(false);
    for (const answer of this.#answers.splice(0)) answer(isSignedIn);
  }
}

export const signingIn = new SigningIn();
