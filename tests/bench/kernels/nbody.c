/* The pull of N bodies on each other; those that pull are taken in tiles. */
#include <math.h>

#define TILE 64		/* tunable: 8 16 32 128 256 1024 */

void nbody(const float *pos, const float *mass, float *force, int N)
{
	for (int i = 0; i < 3 * N; i++)
		force[i] = 0.0f;
	for (int j0 = 0; j0 < N; j0 += TILE)
		for (int i = 0; i < N; i++) {
			int j1 = j0 + TILE < N ? j0 + TILE : N;
			float fx = 0.0f, fy = 0.0f, fz = 0.0f;

			for (int j = j0; j < j1; j++) {
				float dx = pos[j] - pos[i];
				float dy = pos[N + j] - pos[N + i];
				float dz = pos[2 * N + j] - pos[2 * N + i];
				float r2 = dx * dx + dy * dy + dz * dz + 0.01f;
				float s = mass[j] / (r2 * sqrtf(r2));

				fx += s * dx;
				fy += s * dy;
				fz += s * dz;
			}
			force[i] += fx;
			force[N + i] += fy;
			force[2 * N + i] += fz;
		}
}
