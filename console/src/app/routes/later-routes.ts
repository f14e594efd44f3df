// Later routes: those that the first load leaves out, and whether they are there yet.
import { loadCode } from '../../api/missing-code.ts';

/** Adds the routes of all screens to those that the console starts with. */
class LaterRoutes {
  #load: () => Promise<void> = () => Promise.resolve();
  #loading: Promise<void> | undefined;
  #hasScreen: (pathname: string) => boolean = () => false;

  /** `load` brings them into the router, and is called again after a failure. */
  comeFrom(load: () => Promise<void>, hasScreen: (pathname: string) => boolean): void {
    this.#load = load;
    this.#hasScreen = hasScreen;
  }

  /** Resolves when all routes are there; rejects with MissingCode. */
  async add(): Promise<void> {
    this.#loading ??= loadCode('Routes', this.#load);
    try {
      await this.#loading;
    } catch (error) {
      this.#loading = undefined;
      throw error;
    }
  }

  /** Whether one of the routes that are there has a screen for the address, which has no query. */
  haveScreenAt(pathname: string): boolean {
    return this.#hasScreen(pathname);
  }
}

export const laterRoutes = new LaterRoutes();
