// Screen: a component whose code is loaded when its route is opened; what is missing is told in its place.
import { lazyRouteComponent } from '@tanstack/react-router';
import { loadCode } from '../../api/missing-code.ts';

export const screen: typeof lazyRouteComponent = (load, name) =>
  lazyRouteComponent(() => loadCode(String(name), load), name);
