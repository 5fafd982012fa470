/*
 * Convolution, ReLU and bias, one after the other, in NCHW without padding.
 * x is B x C x H x W and the filters are F x C x R x S.
 */
#define C 30
#define H 50
#define W 70
#define F 40
#define R 3
#define S 3
#define P (H - R + 1)
#define Q (W - S + 1)

void conv2d_relu_bias(const float *x, const float *filter, const float *bias,
		      float *y, int B)
{
	for (int b = 0; b < B; b++)
		for (int f = 0; f < F; f++)
			for (int p = 0; p < P; p++)
				for (int q = 0; q < Q; q++) {
					float sum = 0.0f;

					for (int c = 0; c < C; c++)
						for (int r = 0; r < R; r++)
							for (int s = 0; s < S; s++)
								sum += x[((b * C + c) * H + p + r) * W + q + s] *
								       filter[((f * C + c) * R + r) * S + s];
					y[((b * F + f) * P + p) * Q + q] = sum;
				}

	for (int i = 0; i < B * F * P * Q; i++)
		y[i] = y[i] > 0.0f ? y[i] : 0.0f;

	for (int b = 0; b < B; b++)
		for (int f = 0; f < F; f++)
			for (int i = 0; i < P * Q; i++)
				y[(b * F + f) * P * Q + i] += bias[f];
}
