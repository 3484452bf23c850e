/*
 * Every function of zimg that the program calls, as F(library, function).
 */
F(zimg, zimg_filter_graph_build)
F(zimg, zimg_filter_graph_free)
F(zimg, zimg_filter_graph_get_output_buffering)
F(zimg, zimg_filter_graph_get_tmp_size)
F(zimg, zimg_filter_graph_process)
F(zimg, zimg_get_last_error)
F(zimg, zimg_get_version_info)
F(zimg, zimg_graph_builder_params_default)
F(zimg, zimg_image_format_default)
F(zimg, zimg_select_buffer_mask)
